<?php

declare(strict_types=1);

/**
 * Verifies the deliveries of a Waybill warehouse. PHP 8.0 or later, nothing else.
 *
 *     $headers = getallheaders();
 *     $problem = Waybill::problem([$secret], $_SERVER['REQUEST_METHOD'], $_SERVER['REQUEST_URI'], $headers, file_get_contents('php://input'));
 *     if ($problem !== null) {
 *         http_response_code(401);
 *         exit($problem);
 *     }
 *     if (is_new($_SERVER['HTTP_X_SERVICE_DELIVERY'])) { // the same on every attempt
 *         handle($_SERVER['HTTP_X_SERVICE_EVENT'], json_decode(file_get_contents('php://input'), true));
 *     }
 *
 * Take the body as it came (`php://input`, Laravel's and Symfony's `$request->getContent()`), never one that was parsed
 * and written again.
 */
final class Waybill
{
    /**
     * Why the request is not a delivery; null when both signatures are good and not older than $tolerance seconds.
     *
     * @param string[] $secrets all of each secret ("whsec_..."): one, or the new and the old one while a secret is being replaced
     * @param string $target path and query exactly as requested; only GET needs it
     * @param array<string, string> $headers names in any case
     * @param string $body exactly as received; empty on GET
     * @param int|null $now Unix seconds; default: the clock
     */
    public static function problem(
        array $secrets,
        string $method,
        string $target,
        array $headers,
        string $body,
        ?int $now = null,
        int $tolerance = 300,
    ): ?string {
        $headers = array_change_key_case($headers, CASE_LOWER);
        $t = '';
        $service = [];
        foreach (explode(',', $headers['x-service-signature'] ?? '') as $field) {
            [$name, $value] = explode('=', trim($field), 2) + [1 => ''];
            if ($name === 't' && $t === '') {
                $t = $value;
            } elseif ($name === 'v1') {
                $service[] = $value;
            }
        }
        if (preg_match('/\A\d+\z/', $t) !== 1 || $t !== ($headers['webhook-timestamp'] ?? '')) {
            return 'X-Service-Signature has no valid timestamp, or it differs from webhook-timestamp';
        }
        $delivery = $headers['webhook-id'] ?? '';
        if ($delivery === '' || $delivery !== ($headers['x-service-delivery'] ?? '')) {
            return 'webhook-id is missing, or differs from X-Service-Delivery';
        }

        $content = $method === 'POST' ? $body : $target;
        $made = array_map(fn (string $secret) => hash_hmac('sha256', "$t.$content", $secret), $secrets);
        if (!self::anyEqual($made, $service)) {
            return 'X-Service-Signature does not match: the secret, body, path or query differs';
        }

        $signed = $method === 'POST' ? $body : '';
        $standard = [];
        foreach (explode(' ', $headers['webhook-signature'] ?? '') as $one) {
            if (str_starts_with($one, 'v1,')) {
                $standard[] = substr($one, 3);
            }
        }
        $made = array_map(function (string $secret) use ($delivery, $t, $signed): string {
            $key = base64_decode(substr($secret, strlen('whsec_')));
            return base64_encode(hash_hmac('sha256', "$delivery.$t.$signed", $key, true));
        }, $secrets);
        if (!self::anyEqual($made, $standard)) {
            return 'webhook-signature does not match: the id differs';
        }

        return abs(($now ?? time()) - (int) $t) > $tolerance
            ? 'the signature is too old, or this clock is wrong'
            : null;
    }

    /**
     * @param string[] $made
     * @param string[] $given
     */
    private static function anyEqual(array $made, array $given): bool
    {
        $equal = false;
        foreach ($made as $one) {
            foreach ($given as $other) {
                $equal = hash_equals($one, $other) || $equal;
            }
        }
        return $equal;
    }
}
