/** How to fix a fault: one sentence, with an example in the receiver's language if its answers reveal it. */

/** Answer headers that reveal the language of a receiver. */
const SIGNS = [
  ['php', /\bphp\b/i],
  ['python', /python|werkzeug|gunicorn|uvicorn|hypercorn|waitress|tornado|cherrypy/i],
  ['ruby', /\bruby\b|puma|webrick|passenger|unicorn|thin\b/i],
  ['java', /coyote|jetty|tomcat|undertow|netty|servlet/i],
  ['node', /express|next\.js|waybill-receiver|koa|fastify/i],
] as const;
export type Language = (typeof SIGNS)[number][0];

/**
 * @param headers by name in lower case
 * @returns null if they do not reveal it
 */
export function languageOf(headers: Readonly<Record<string, string>>): Language | null {
  const said = [headers.server, headers['x-powered-by']].join(' ');
  if ('x-waybill-handled' in headers) return 'node';
  return SIGNS.find(([, sign]) => sign.test(said))?.[0] ?? null;
}

const VERIFY: Readonly<Record<Language, string>> = {
  node: 'receiver({ secrets, store }) of @waybill-hq/receiver does it',
  python: 'waybill.verify(secrets, request.method, target, request.headers, request.get_data()) does it',
  php: "Waybill::problem($secrets, $_SERVER['REQUEST_METHOD'], $_SERVER['REQUEST_URI'], getallheaders(), file_get_contents('php://input')) does it",
  ruby: 'Waybill.problem(secrets, request.method, request.original_fullpath, headers_of(request), request.raw_post) does it',
  java: 'Waybill.problem(secrets, method, target, headers, body, Instant.now().getEpochSecond()) does it',
};
const BODY: Readonly<Record<Language, string>> = {
  node: "with Express, express.raw({ type: '*/*', limit: '1mb' })",
  python: 'with Flask, MAX_CONTENT_LENGTH = 1024 * 1024',
  php: 'post_max_size = 1M, and client_max_body_size 1m in nginx',
  ruby: 'client_max_body_size 1m in nginx',
  java: 'with Spring, server.tomcat.max-http-form-post-size=1MB',
};

const GENERAL = {
  'valid request':
    'Respond with 2xx to correctly signed requests: check the secret of this webhook, and that body, path and query are used exactly as received.',
  repeat:
    'Remember the X-Service-Delivery of each handled delivery, and respond to repeats with 2xx without handling them again.',
  'older sequence':
    'Respond with 2xx to a lower X-Service-Sequence than the last one handled for the record, and do not let it overwrite newer data.',
  'greatest payload': 'Accept bodies up to 256 KiB, also in every proxy on the way',
  'longest identifier':
    'Decode the identifier at the end of the URL once, and accept up to 64 characters of any kind.',
  'unknown fields': 'Ignore fields that you do not know: new ones may be added.',
  'two signatures':
    'Compare with every v3 in X-Service-Signature, not with the first or last alone: one match is enough.',
  'three at once':
    'Handle requests concurrently: queue the work, and respond as soon as the delivery is stored.',
  'wrong signature':
    'Compare v3 of X-Service-Signature with the one computed with your secret, and respond with 401 if none matches',
  'no signature': 'Respond with 401 if X-Service-Signature is missing, before reading the body',
  'signature of another body': 'Compute the signature over the bytes of the body as they came',
  'signature of another target':
    'Compute v3 over path and query as requested: webhook-signature does not cover them on GET',
  'old timestamp': 'Refuse a t that is more than 300 seconds off by your clock',
  'only v1 matches':
    'Check v3 instead of v1 or webhook-signature, which do not cover the sequence, the webhook and the test mark',
  'answer time':
    'Store the delivery, respond, and do the work afterwards: an attempt has 15 seconds by default.',
  redirects:
    'Register the address that the redirect leads to: redirects are not followed, and count as failures.',
  certificate: 'Renew the certificate, and automate its renewal.',
};
export type RowName = keyof typeof GENERAL;

const EXAMPLES: Readonly<Partial<Record<RowName, Readonly<Record<Language, string>>>>> = {
  'greatest payload': BODY,
  'wrong signature': VERIFY,
  'no signature': VERIFY,
  'signature of another body': VERIFY,
  'signature of another target': VERIFY,
  'old timestamp': VERIFY,
  'only v1 matches': VERIFY,
};

/** Remedies by the words of the sentence that says why there is no answer. */
const NO_ANSWER: readonly (readonly [pattern: RegExp, remedy: string])[] = [
  [
    /intermediate/,
    'Configure the server to send its whole certificate chain: with most authorities, the file fullchain.pem.',
  ],
  [/client certificate/, 'Require no client certificate on this path: the signature proves the sender.'],
  [/HTTP\/2/, 'Let the server speak HTTP/1.1 too: deliveries use it.'],
  [/too old/, 'Let the server speak TLS 1.2 or 1.3.'],
  [/certificate|TLS/, 'Fix TLS first: `curl -v` on the URL, from outside, shows the same problem.'],
  [
    /valid HTTP|headers that are too large|informational/,
    'Fix the response first: `curl -v` on the URL shows it.',
  ],
  [/has no address|name server/, 'Check the host name in the URL, and its DNS records.'],
  [/not allowed|range/, 'Register an address that the sender may call: a public one.'],
];

/**
 * The remedy if not even the first request is answered.
 * @param error the sentence that says why; null if there is none
 */
export function unansweredRemedy(error: string | null): string {
  const found = NO_ANSWER.find(([pattern]) => error !== null && pattern.test(error));
  return (
    found?.[1] ??
    'Start the receiver, and check that the URL leads to it: without a response there is nothing to examine.'
  );
}

/** The remedy if a firewall refuses requests in place of the receiver. */
export const BEHIND_A_FIREWALL =
  'Let requests to this path pass the firewall in front of the receiver: it refuses them before the receiver sees them.';

/** The remedy if a request that must be refused got no answer, or one that valid requests may get as well. */
export const UNREPORTED =
  'Respond with 401 to wrongly signed requests, and examine the receiver again: this response does not show that the signature was checked.';

/** The remedy if another valid request is refused as the first one was. */
export const SAME_AS_VALID = 'The same as for the valid request: fix that first.';

/** The remedy for a fault, in one sentence. */
export function remedyOf(name: RowName, language: Language | null): string {
  const general = GENERAL[name];
  if (general.endsWith('.')) return general;
  const example = language === null ? undefined : EXAMPLES[name]?.[language];
  return example === undefined ? `${general}.` : `${general}; ${example}.`;
}
