<?php

declare(strict_types=1);

/** Reads requests from the standard input, one a line, and says of each whether the recipe verifies it (README.md). */
require __DIR__ . '/waybill.php';
require __DIR__ . '/waybill_v1a.php';

$v1a = ($argv[1] ?? '') === 'v1a';
while (($line = fgets(STDIN)) !== false) {
    [$secrets, $now, $method, $target, $lines, $body] = array_map('base64_decode', explode(' ', rtrim($line, "\n")));
    $headers = [];
    foreach (explode("\n", $lines) as $header) {
        [$name, $value] = explode(': ', $header, 2);
        $headers[$name] = $value;
    }
    $known = explode(',', $secrets);
    try {
        $problem = $v1a
            ? WaybillV1a::problem($known, $headers, $body, (int) $now)
            : Waybill::problem($known, $method, $target, $headers, $body, (int) $now);
        [$origin, $changed] = $v1a ? [null, []] : Waybill::written($headers);
        echo $problem === null ? implode(' ', array_filter(['true', $origin, ...$changed])) . "\n" : "false\n";
    } catch (BadSecret | BadKey) {
        echo "setup\n";
    }
}
