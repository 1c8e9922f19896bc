<?php

declare(strict_types=1);

/** A mistake in your own setup, not in the request: answer 500, never 401. */
final class BadKey extends InvalidArgumentException
{
}

/**
 * Verifies `v1a`, the signature for receivers that know public keys and no secret. PHP 8.0 or later, with its extension sodium.
 *
 *     $keys = [getenv('WAREHOUSE_KEY')]; // each "publicKey" of GET /eshop/signing-keys: one, or two while one is being replaced
 *     $problem = WaybillV1a::problem($keys, getallheaders(), file_get_contents('php://input')); // not null: answer 401
 *
 * It covers X-Service-Delivery, the time and the body, of POST alone. The event type, the webhook, the sequence and the test mark it
 * does not cover: where these need protection from more than TLS protects them from, verify `v3` too (waybill.php).
 */
final class WaybillV1a
{
    /** "whpk_" and the base64 of 32 bytes, which are not all zero: anybody can sign for such a key. */
    private const PUBLIC_KEY = '#\Awhpk_(?!A+=)[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=\z#';

    /**
     * Checks that it is one or more whole public keys. Call it at the start, too.
     *
     * @param string[] $keys
     * @throws BadKey
     */
    public static function checkPublicKeys(array $keys): void
    {
        if ($keys === []) {
            throw new BadKey('there is no public key');
        }
        foreach ($keys as $key) {
            if (!is_string($key) || preg_match(self::PUBLIC_KEY, $key) !== 1) {
                throw new BadKey('a public key is not set, cut off, or not the "publicKey" of GET /eshop/signing-keys');
            }
        }
    }

    /**
     * Why the request is not a delivery; null when the signature is good and not older than $tolerance seconds.
     *
     * @param string[] $keys
     * @param array<string, string> $headers names in any case
     * @param string $body exactly as received
     * @param int|null $now Unix seconds; default: the clock
     * @throws BadKey as checkPublicKeys does
     */
    public static function problem(array $keys, array $headers, string $body, ?int $now = null, int $tolerance = 300): ?string
    {
        self::checkPublicKeys($keys);
        $headers = array_change_key_case($headers, CASE_LOWER);
        $id = $headers['webhook-id'] ?? '';
        $t = $headers['webhook-timestamp'] ?? '';
        if ($id !== ($headers['x-service-delivery'] ?? null)) {
            return 'webhook-id is not X-Service-Delivery';
        }
        if (preg_match('/\A\d+\z/', $t) !== 1) {
            return 'webhook-timestamp is not in Unix seconds';
        }
        if ($body === '') {
            return 'the body is empty: a GET is verified by v3 alone';
        }

        $signed = false;
        foreach (explode(' ', $headers['webhook-signature'] ?? '') as $given) {
            $signature = str_starts_with($given, 'v1a,') ? base64_decode(substr($given, 4), true) : false;
            if ($signature === false || strlen($signature) !== SODIUM_CRYPTO_SIGN_BYTES) {
                continue;
            }
            foreach ($keys as $key) {
                $public = base64_decode(substr($key, 5));
                $signed = sodium_crypto_sign_verify_detached($signature, "$id.$t.$body", $public) || $signed;
            }
        }
        if (!$signed) {
            return 'v1a of webhook-signature does not match: the public key, webhook-id, the time or the body differs';
        }

        return abs(($now ?? time()) - (int) $t) > $tolerance ? 'the signature is too old, or this clock is wrong' : null;
    }
}
