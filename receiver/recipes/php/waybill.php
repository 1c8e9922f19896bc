<?php

declare(strict_types=1);

/** A mistake in your own setup, not in the request: answer 500, never 401. */
final class BadSecret extends InvalidArgumentException
{
}

/**
 * Verifies the deliveries of a Waybill warehouse. PHP 8.0 or later, nothing else.
 *
 *     http_response_code(500); // until it is handled: PHP may answer an uncaught exception, such as BadSecret, with 200
 *     $headers = array_change_key_case(getallheaders()); // decide by these, which are verified, not by $_SERVER
 *     $secrets = SECRETS[$headers['x-service-webhook'] ?? ''] ?? []; // each webhook has its own
 *     $problem = Waybill::problem($secrets, $_SERVER['REQUEST_METHOD'], $_SERVER['REQUEST_URI'], $headers, file_get_contents('php://input'));
 *     if ($problem !== null) {
 *         http_response_code(401);
 *         exit($problem);
 *     }
 *     if (is_new($headers['x-service-delivery'])) { // the same on every attempt
 *         handle($headers['x-service-event'], json_decode(file_get_contents('php://input'), true));
 *     }
 *     http_response_code(204);
 *
 * Take the body as it came (`php://input`, Laravel's and Symfony's `$request->getContent()`), never one that was parsed
 * and written again.
 */
final class Waybill
{
    /** What is signed beside the time, method, path, query and body; X-Service-Test is absent where it is no test. */
    private const SIGNED = [
        'v3' => ['delivery', 'event-id', 'event', 'sequence', 'webhook', 'origin', 'changed', 'test'],
        'v2' => ['delivery', 'event-id', 'event', 'sequence', 'webhook', 'test'],
    ];

    /** A whole secret: generated ("whsec_...", its length is 4n + 2) or your own; which is no quoted text, API key or placeholder. */
    private const GENERATED = '#\Awhsec_[A-Za-z0-9+/]{32,86}={0,2}\z#';
    private const OWN = '#\A[!-~][ -~]{22,254}[!-~]\z#';
    private const NOT_OWN = '~^["\'`]|^wb_[A-Za-z0-9_-]{43}$|[$#%]\{[^{}]*\}|\$\([^()]*\)|\{\{.*\}\}|^<.*>$|^%.*%$|^\[.*\]$|^\$[A-Za-z_][A-Za-z0-9_]*$~';

    /**
     * Checks that each is a whole secret. Call it at the start, too: anybody can sign with an empty one.
     *
     * @param string[] $secrets
     * @throws BadSecret
     */
    public static function checkSecrets(array $secrets): void
    {
        foreach ($secrets as $secret) {
            if (!is_string($secret) || !self::isWhole($secret)) {
                throw new BadSecret('a secret is not set, cut off, in quotes or spaces, or a placeholder');
            }
        }
    }

    private static function isWhole(string $secret): bool
    {
        return str_starts_with($secret, 'whsec_')
            ? preg_match(self::GENERATED, $secret) === 1 && strlen($secret) % 4 === 2
            : preg_match(self::OWN, $secret) === 1 && preg_match(self::NOT_OWN, $secret) === 0;
    }

    /**
     * Why the request is not a delivery; null when the signature is good and not older than $tolerance seconds.
     *
     * @param string[] $secrets those of the webhook that X-Service-Webhook names, all of each ("whsec_..."): one, or the new and the old one while a secret is being replaced
     * @param string $target path and query exactly as requested
     * @param array<string, string> $headers names in any case
     * @param string $body exactly as received; empty on GET
     * @param int|null $now Unix seconds; default: the clock
     * @throws BadSecret as checkSecrets does
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
        self::checkSecrets($secrets);
        $headers = array_change_key_case($headers, CASE_LOWER);
        $fields = self::fields($headers);
        $t = $fields['t'][0] ?? '';
        if (preg_match('/\A\d+\z/', $t) !== 1) {
            return 'X-Service-Signature has no valid timestamp';
        }

        $version = isset($fields['v3']) ? 'v3' : 'v2';
        $named = array_map(fn (string $name) => $headers["x-service-$name"] ?? '', self::SIGNED[$version]);
        $content = implode("\n", [$t, ...$named, $method, $target, $body]);
        $made = array_map(fn (string $secret) => hash_hmac('sha256', $content, $secret), $secrets);
        if (!self::anyEqual($made, $fields[$version] ?? [])) {
            return $version . ' of X-Service-Signature does not match: the secret, a header, path, query or body differs';
        }

        return abs(($now ?? time()) - (int) $t) > $tolerance
            ? 'the signature is too old, or this clock is wrong'
            : null;
    }

    /**
     * Of a verified request: who made the change ("shop", "warehouse" or "service"), and the fields that it changed. [null, []]
     * where there is no v3, of an older sender: v2 does not cover these headers, and anybody may have set them.
     *
     * @param array<string, string> $headers names in any case
     * @return array{?string, string[]}
     */
    public static function written(array $headers): array
    {
        $headers = array_change_key_case($headers, CASE_LOWER);
        if (!isset(self::fields($headers)['v3'])) {
            return [null, []];
        }
        $changed = $headers['x-service-changed'] ?? '';
        return [$headers['x-service-origin'] ?? null, $changed === '' ? [] : explode(',', $changed)];
    }

    /**
     * The values in X-Service-Signature, by name.
     *
     * @param array<string, string> $headers names in lower case
     * @return array<string, string[]>
     */
    private static function fields(array $headers): array
    {
        $fields = [];
        foreach (explode(',', $headers['x-service-signature'] ?? '') as $field) {
            [$name, $value] = explode('=', trim($field), 2) + [1 => ''];
            $fields[$name][] = $value;
        }
        return $fields;
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
