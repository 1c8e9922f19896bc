/** Rules beyond single schemas and operations, in Markdown: the introduction of the OpenAPI document. */
import { MAX_PROBLEMS } from '../../domain/problem.ts';
import { HISTORY_BYTES, MAX_RECORD_BYTES } from '../../domain/record-size.ts';
import { maxAttempts, type RetryPolicy } from '../../domain/retry-policy.ts';

export const conventions = `## Conventions

- JSON in UTF-8, camelCase. Timestamps in responses are ISO 8601 in UTC with milliseconds (\`2026-11-20T19:33:00.000Z\`); requests may use any ISO 8601 date-time with an offset. An optional field that a request leaves out is \`null\` in the record. No text may contain NUL or half of a surrogate pair.
- Success is always HTTP 200, creation included, in the envelope \`{"statusCode": 200, "message": "Webhook created.", "data": …}\`.
- Lists take \`page\` (from 1, default 1) and \`items\` (1–100, default 30); \`data\` is the plain array, with \`pagination: {page, items, totalCount, totalPages}\` beside it. Events and the list of all deliveries can also be read from a cursor (\`after\`). The list of webhooks returns everything if neither is sent.
- Unknown fields in a body are rejected (400, naming them), and so are unknown query parameters of an operation that has any. The response-only fields of a record (\`id\`, \`registeredAt\`, …) are ignored, so that a record can be sent back as it was read.
- The e-shop chooses the identifiers (\`eshop…Id\`, \`sku\`; 1–64 characters), unique per e-shop and kind of record; creating a second record with the same one returns 409. Percent-encode them in paths.
- Every list in a request has a maximum length (\`maxItems\`). A record may be at most ${MAX_RECORD_BYTES / 1024} KiB as JSON, packing lists and history included. The last ${HISTORY_BYTES / 1024} KiB are kept for changes of its status: any other write that would make it larger than ${(MAX_RECORD_BYTES - HISTORY_BYTES) / 1024} KiB is rejected (400).
- A write returns the full record. A write that changes nothing fires no event.
- Another e-shop's record does not exist: 404, the same as for an identifier that was never used.

## Errors

Every error has the body \`{"statusCode": 400, "error": "Bad Request", "message": "…"}\`: \`error\` is the standard reason phrase, \`message\` names every problem at once (only the first ${MAX_PROBLEMS} if there are more), each with the path of its field (\`parameters.withPackingLists: allowed only for UPDATE_ORDER and UPDATE_ORDER_STATUS\`).

- 400: failed validation of body, path or query, malformed JSON, a body sent in too many tiny chunks, or something that the e-shop's contract does not allow.
- 401: the API key or token is missing, invalid, expired or revoked, or they belong to different e-shops. 403: the operation requires the role \`warehouse\`.
- 404: the record does not exist, or there is no such endpoint. 405, with \`Allow\`: the endpoint does not support this method.
- 409: the record already exists, or its state does not allow the change.
- 411: a login was sent chunked, without \`Content-Length\`. 413: the body is larger than 1 MiB (16 KiB for a login). 415: \`Content-Type\` is not JSON.
- 429, with \`Retry-After\`: too many failed logins, or an e-shop that has exceeded its budget of concurrent requests or of bytes sent and received, or has not read its responses. A body that takes 5 ms or longer to check, and a record that takes as long to serialize, count as bytes too: 250 ms of this use up the bytes of one second. An object with more than 250 fields gets a 400. \`RateLimit-Policy\` and \`RateLimit\` (draft-ietf-httpapi-ratelimit-headers) state the budget and what is left of it in every response; no ordinary client exhausts it.
- 408: the request took longer than 30 seconds to arrive; imports are exempt. If a client reads nothing from a response for 30 seconds, the connection is closed.
- 500 and 503: a failure of the service, without internal details. Every response has an \`X-Request-Id\`; quote it to the operator.`;

export const authentication = `## Authentication

Every request under \`/v21\` and \`/v2\` carries two headers: \`x-api-key\`, the API key of the e-shop, and \`authorization\`, a token from \`POST /v21/users/login\`. \`authorization\` is accepted with the \`Bearer\` scheme in any case, and as the bare token. The token is a JWT (HS256) with issuer, audience, e-shop and role, valid for one hour. Key and token must belong to the same e-shop.

Roles: \`shop\` is an e-shop's own user, \`warehouse\` the warehouse's user for that e-shop. Operations under \`/v21/warehouse/\` require the role \`warehouse\`. Everything else, including webhooks, is open to both roles: the warehouse's user acts for that one e-shop.

Key, e-shop and user are checked on every request: once the operator has deleted a user, disabled an e-shop, or replaced an API key or password, the old credentials get 401 from the next request on, even if the token has not expired.

API keys are stored as hashes, passwords with argon2id, webhook secrets encrypted with AES-256-GCM under the master key. None is ever logged.`;

export const versions = `## Versions and decimals

\`v21\` writes numbers as JSON numbers; \`v2\` writes money and counts as decimal strings (\`"1249.90"\`, \`"3"\`): \`quantity\`, \`received\`, \`unitsAmount\`, \`count\`, \`balance\`, \`unitPrice\`, \`price\`, \`cashOnDelivery\`, \`vatRate\` and everything in \`stock\`. Identifiers, enumerations, dimensions and weights are numbers in both. Every read of a record or an event, and the list of all deliveries, exists under \`/v21\` and, in the v2 form, under \`/v2\`; everything else exists only under \`/v21\`.

Decimal strings are canonical: money has two to four decimals, counts no trailing zeros. A request may send a JSON number or a decimal string, of at most 15 significant digits. Amounts of money are in the \`currency\` (ISO 4217) of the record.`;

export const events = `## Events

Creating a record fires \`CREATE_X\`. Changing any writable field except the status fires \`UPDATE_X\` (response-only fields such as \`stock\`, \`updatedAt\` and \`deliveredAt\` do not count; a change of \`stock\` alone fires \`UPDATE_PRODUCT\` for webhooks with \`parameters.onStockChange\`). Changing the status fires \`UPDATE_X_STATUS\`, and not \`UPDATE_X\` unless another field changed too. A stock movement fires the \`CREATE_STOCK_MOVEMENT_…\` of its type. The payload is a snapshot of the record right after the write. If the operator has erased a customer's personal data on request, these fields are null in it and in the record, and open deliveries of the record ended before that. Operations on webhooks fire no events.

An event creates one delivery for each webhook of its type that is active when the event is committed.`;

/** @param policy the retry policy in force here */
export function receiving(policy: RetryPolicy): string {
  const hours = inUnits(policy.windowMs / 3_600_000);
  const seconds = inUnits(policy.attemptTimeoutMs / 1_000);
  return `## What a receiver gets

- **POST**: the record as its read endpoint returns it (\`data\` without the envelope), \`content-type: application/json\`, in the webhook's \`payloadVersion\`. **GET**: no body; the percent-encoded identifier is appended to the URL.
- Both have \`X-Service-Signature\`, \`X-Service-Event\` (the type), \`X-Service-Event-Id\` (the same at every webhook, in redeliveries and in recoveries), \`X-Service-Event-Time\` (when it happened, never earlier than the record's previous event), \`X-Service-Sequence\` (see below), \`X-Service-Origin\` (who made the change: \`shop\`, \`warehouse\` or \`service\`), for updates and changes of status \`X-Service-Changed\` (the top-level fields that changed, joined by commas; \`*\` for more than 1 KiB), \`X-Service-Webhook\` (the webhook's id), \`X-Service-Delivery\` (the delivery's id, the same on every attempt), \`X-Service-Attempt\` (1–${maxAttempts(policy)}), \`User-Agent: Waybill/<version>\`, \`Accept-Encoding: identity\`, and \`webhook-id\`, \`webhook-timestamp\`, \`webhook-signature\` of Standard Webhooks. If the operator of the warehouse collects traces, both also have W3C's \`traceparent\`, which is not signed: continue the trace if you collect traces yourself, but do not base any decision on it.
- Try your receiver first: \`POST /v21/webhooks/{id}/test\` sends it a sample, marked \`X-Service-Test: true\`, and returns what was sent, what came back and what is wrong, even while the webhook is inactive. Test events that the operator of the warehouse triggers carry the same mark: their records do not exist.
- Deliveries are **at least once**: recognize duplicates by the delivery's id, or by the event's id if something must not be done twice, whichever webhook or redelivery it comes by. The order of deliveries is not guaranteed.
- \`X-Service-Sequence\` says in which order the events of a record happened: it starts at 1 and rises with every event of the record, whatever its type. A delivery with a lower one than you have handled for this record is out of date. Gaps are normal, so never wait for a missing one. A write that fires two events takes two, the creation or update first; a stock movement is a record of its own; tests have 1. \`updatedAt\` rises strictly as well, whenever anything in the record changes, a product's \`stock\` included; receivings have none.
- Success is any 2xx, once the status line and the headers have arrived. Up to 16 KiB of the response body is read; the first 1 KiB is kept in the delivery log, as text. Respond within ${seconds} s (5 s to connect). Redirects count as failures.
- A failure is retried up to ${policy.maxRetries} times within ${hours} hours of the first attempt, at exponentially increasing intervals (each 90–100 % of the planned one, so that deliveries that failed together are not retried together). \`429\` and \`503\` with \`Retry-After\` postpone the next attempt accordingly, by six hours at most and within these ${hours} hours.
- Only failures on the receiver's side count as attempts: its responses, a time-out, a failed connection, an invalid certificate, a host name that does not exist or whose name server does not respond. If the fault is on our side (our resolver, network or machine), no attempt is used up, and the same attempt is made again. Host names are resolved for every connection.
- When all retries fail, the webhook is deactivated and the e-shop gets an e-mail that says how to reactivate it. \`410 Gone\` deactivates it immediately, with the same e-mail.
- Before that, there is a warning: the webhook's record shows since when it has been failing and when it will be deactivated (\`incident\`), and one e-mail is sent after six hours without an accepted delivery, or a day before the retries of a delivery are exhausted. \`PATCH /v21/eshop\` turns these e-mails off. Beyond twenty e-mails at once, notices are merged into one e-mail every six minutes at most.
- An open delivery of an inactive or paused webhook is **held**. When the webhook is activated, the delivery is attempted within its own ${hours} hours: immediately if the last attempt is at least the first interval old, otherwise after that interval, so that switching on and off uses up no retries. If the ${hours} hours end while it is held, it becomes \`expired\`. The operator of the warehouse can also hold a single delivery; its record says who holds it and why.
- Destinations in private, loopback, link-local, multicast, metadata and other special-purpose ranges (IPv4, IPv6, mapped and translated forms) are refused when connecting, on every attempt, unless the operator exempts the range; the service's own ports are always refused. A URL that can never work for these reasons is rejected with 400 when it is registered.

## How to verify a signature

\`X-Service-Signature: t=<unix seconds>,v1=<hex>,v2=<hex>,v3=<hex>\`: each is HMAC-SHA256 with the UTF-8 bytes of the whole \`secret\` (including \`whsec_\`, if it begins with it) as the key. Verify \`v3\`, which covers everything that a receiver decides by. It is computed over these lines, each ended by a line feed, and then the body (empty on GET): \`t\`, \`X-Service-Delivery\`, \`X-Service-Event-Id\`, \`X-Service-Event\`, \`X-Service-Sequence\`, \`X-Service-Webhook\`, \`X-Service-Origin\`, \`X-Service-Changed\` (or an empty line), \`X-Service-Test\` (\`true\`, or an empty line), the method, path and query as requested. \`X-Service-Webhook\` says whose secret to use. The number of the attempt and the time of the event are not covered.

\`v2\` is the same without \`X-Service-Origin\` and \`X-Service-Changed\`: a receiver that verifies it must not act on these two. \`v1\` is over \`<t>.<body>\` for POST and \`<t>.<path and query as requested>\` for GET. For 24 hours after the secret was regenerated, each appears twice, first with the new secret and then with the old one: \`t=,v1=new,v1=old,v2=new,v2=old,v3=new,v3=old\`. Reject a \`t\` that is more than five minutes off.

\`webhook-signature: v1,<base64>\` follows the Standard Webhooks specification, with the base64 part of the secret as the key (all of your own secret, in UTF-8, if it does not begin with \`whsec_\`), over \`<webhook-id>.<webhook-timestamp>.<body>\`; its published libraries verify it. \`webhook-id\` is the delivery's id and the timestamp the same as \`t\`. On GET its body is empty, so it does not protect the identifier: verify \`X-Service-Signature\` there.`;
}

/** At most one decimal, without zeros at its end. */
const inUnits = (value: number) => String(Math.round(value * 10) / 10);

/** The groups of operations, in their order. */
export const tags = Object.entries({
  Authentication: 'Log in with a user name and password to get a token.',
  'E-shop': 'The e-shop itself, and which notifications it gets.',
  Webhooks: 'Subscriptions: which events are delivered where, and how.',
  Deliveries: 'The delivery log: what was delivered, what failed, and why.',
  Events: 'Every event, its outcome at every webhook, and why something did not arrive.',
  Recoveries: 'Deliver events that a webhook did not get.',
  Orders: 'Orders of the e-shop.',
  Products: 'Products of the e-shop.',
  Receivings: 'Inbound goods: announced, arrived, counted and stocked.',
  Returns: 'Goods sent back by customers.',
  'Stock movements': 'Every change to the stock of a product, and why.',
}).map(([name, description]) => ({ name, description }));
