<?php

declare(strict_types=1);

/** A receiver with nothing but PHP, and waybill.php beside it: `php server.php`. The secret comes from the environment. */
require __DIR__ . '/waybill.php';

const MAX_BYTES = 1024 * 1024; // more than any delivery needs: a record has at most 256 KiB as JSON

http_response_code(500); // until it is handled: PHP may answer an uncaught exception with 200
$secrets = [(string) getenv('WEBHOOK_SECRET')];
try {
    Waybill::checkSecrets($secrets);
} catch (BadSecret $problem) {
    error_log("WEBHOOK_SECRET: {$problem->getMessage()}.");
    exit(1);
}
if (PHP_SAPI === 'cli') {
    passthru(escapeshellarg(PHP_BINARY) . ' -S 127.0.0.1:' . (int) (getenv('PORT') ?: 9000) . ' ' . escapeshellarg(__FILE__));
    exit(1);
}

$body = (string) file_get_contents('php://input', length: MAX_BYTES + 1);
if (strlen($body) > MAX_BYTES) {
    http_response_code(413);
    exit('too large');
}
$headers = array_change_key_case(getallheaders()); // what is verified, and nothing else, decides
$problem = Waybill::problem($secrets, $_SERVER['REQUEST_METHOD'], $_SERVER['REQUEST_URI'], $headers, $body);
if ($problem !== null) {
    http_response_code(401);
    exit($problem);
}
// The same on every attempt. Keep what was handled in your database: temporary files come and go.
$handled = sys_get_temp_dir() . '/' . $headers['x-service-delivery'];
if (($headers['x-service-test'] ?? '') !== 'true' && !file_exists($handled)) {
    $order = json_decode($body, true, flags: JSON_THROW_ON_ERROR);
    error_log("New order {$order['eshopOrderId']} of {$order['recipientName']}");
    touch($handled);
}
http_response_code(200);
