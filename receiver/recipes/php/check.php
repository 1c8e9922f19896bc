<?php

declare(strict_types=1);

/** Reads requests from the standard input, one a line, and says of each whether the recipe verifies it (README.md). */
require __DIR__ . '/waybill.php';

while (($line = fgets(STDIN)) !== false) {
    [$secrets, $now, $method, $target, $lines, $body] = array_map('base64_decode', explode(' ', rtrim($line, "\n")));
    $headers = [];
    foreach (explode("\n", $lines) as $header) {
        [$name, $value] = explode(': ', $header, 2);
        $headers[$name] = $value;
    }
    try {
        $problem = Waybill::problem(explode(',', $secrets), $method, $target, $headers, $body, (int) $now);
        [$origin, $changed] = Waybill::written($headers);
        echo $problem === null ? implode(' ', array_filter(['true', $origin, ...$changed])) . "\n" : "false\n";
    } catch (BadSecret) {
        echo "setup\n";
    }
}
