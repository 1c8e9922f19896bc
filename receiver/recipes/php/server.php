<?php

declare(strict_types=1);

/** A receiver with nothing but PHP, and waybill.php beside it: `php -S 127.0.0.1:9000 server.php`. */
require __DIR__ . '/waybill.php';

$method = $_SERVER['REQUEST_METHOD'];
$body = (string) file_get_contents('php://input');
$problem = Waybill::problem([(string) getenv('WEBHOOK_SECRET')], $method, $_SERVER['REQUEST_URI'], getallheaders(), $body);
if ($problem !== null) {
    http_response_code(401);
    exit($problem);
}
// The same on every attempt. Keep what was handled in your database: temporary files come and go.
$handled = sys_get_temp_dir() . '/' . $_SERVER['HTTP_X_SERVICE_DELIVERY'];
if (!isset($_SERVER['HTTP_X_SERVICE_TEST']) && !file_exists($handled)) {
    $order = json_decode($body, true, flags: JSON_THROW_ON_ERROR);
    error_log("New order {$order['eshopOrderId']} of {$order['recipientName']}");
    touch($handled);
}
