/**
 * The rules of the interface that no single schema or operation can say, in Markdown: the introduction of the
 * OpenAPI document and of the documentation page.
 * @module
 */
import { MAX_PROBLEMS } from '../../domain/problem.ts';
import { MAX_RECORD_BYTES } from '../../domain/record-size.ts';
import { defaultRetryPolicy, maxAttempts } from '../../domain/retry-policy.ts';

const hours = defaultRetryPolicy.windowMs / 3_600_000;
const attempts = maxAttempts(defaultRetryPolicy);

/** Shapes, statuses and errors that every operation shares. */
export const conventions = `## Conventions

- JSON in UTF-8, camelCase. Timestamps out are ISO 8601 in UTC with milliseconds (\`2026-11-20T19:33:00.000Z\`); in, any ISO 8601 date-time with an offset. What is optional and absent in a request is \`null\` in a record.
- Success is always HTTP 200, creation included, with the envelope \`{"statusCode": 200, "message": "Webhook created.", "data": …}\`.
- Lists take \`page\` (from 1, default 1) and \`items\` (1–100, default 30); \`data\` is the plain array, with \`pagination: {page, items, totalCount, totalPages}\` beside it. The list of webhooks answers everything when neither is sent.
- Unknown fields in a body are refused (400, naming them), and so are unknown parameters in the query of an operation that has some. The response-only fields of a record (\`id\`, \`registeredAt\`, …) are ignored, so that a record that was read can be put back.
- Identifiers are given by the e-shop (\`eshop…Id\`, \`sku\`; 1–64 characters) and unique per e-shop and kind; a second creation is 409. Percent-encode them in paths.
- Every list in a request has a maximum length (\`maxItems\`). A record may be at most ${MAX_RECORD_BYTES / 1024} KiB as JSON, packing lists and history included; a write that would make it larger is refused (400).
- A write answers the full record. A write that changes nothing fires nothing.
- Another e-shop's record does not exist: 404, the same as an identifier that never was.

## Errors

Every error has the body \`{"statusCode": 400, "error": "Bad Request", "message": "…"}\`: \`error\` is the standard phrase of the status, \`message\` names every problem at once (only the first ${MAX_PROBLEMS} if there are more), each with the path of its field (\`parameters.withPackingLists: allowed only for UPDATE_ORDER and UPDATE_ORDER_STATUS\`).

- 400: failed validation of body, path or query, malformed JSON, a body in very many small pieces, or something that the contract of the e-shop does not allow.
- 401: key or token is missing, wrong, expired or revoked, or belongs to another e-shop. 403: the operation needs the role \`warehouse\`.
- 404: the record does not exist, or the path is unknown. 405, with \`Allow\`: the path does not have this method.
- 409: the record exists already, or its state does not allow the change.
- 411: a login was sent in chunks, without \`Content-Length\`. 413: the body is larger than 1 MiB (16 KiB at the login). 415: the body is not declared as JSON.
- 429, with \`Retry-After\`: too many failed logins, or an e-shop that has exceeded its budget: requests under way at the same time, and bytes sent and received. \`RateLimit-Policy\` and \`RateLimit\` (draft-ietf-httpapi-ratelimit-headers) say on every answer what the budget is and what is left of it; no ordinary client exhausts it.
- 408: the request took longer than 30 seconds to arrive; imports are exempt. An answer of which nothing is read for 30 seconds is given up: its connection is closed.
- 500 and 503: our own failure, without inner detail. \`X-Request-Id\` names it for the operator; every answer has that header.`;

/** Keys, tokens and roles. */
export const authentication = `## Authentication

Every request under \`/v21\` and \`/v2\` carries two headers: \`x-api-key\`, the API key of the e-shop, and \`authorization\`, a token from \`POST /v21/users/login\`. \`authorization\` is accepted with the \`Bearer\` scheme in any case, and as the bare token. The token is a JWT (HS256) with issuer, audience, e-shop and role, good for one hour. Key and token must belong to the same e-shop.

Roles: \`shop\` is an e-shop's own user, \`warehouse\` the warehouse's user for that e-shop. Operations under \`/v21/warehouse/\` need the role \`warehouse\`. Everything else, the webhooks included, is open to both: the warehouse's user acts for that one e-shop, and may subscribe for it.

Key, e-shop and user are looked up for every request: once the operator has deleted a user, disabled an e-shop, or replaced an API key or a password, the old credentials get 401 from the next request on, even if the token has not expired.

API keys are stored as hashes, passwords with argon2id, webhook secrets encrypted. None is ever logged.`;

/** Payload versions and decimals. */
export const versions = `## Versions and decimals

\`v21\` writes numbers as JSON numbers; \`v2\` writes money and counts as decimal strings (\`"1249.90"\`, \`"3"\`): \`quantity\`, \`received\`, \`unitsAmount\`, \`count\`, \`balance\`, \`unitPrice\`, \`price\`, \`cashOnDelivery\`, \`vatRate\` and everything in \`stock\`. Identifiers, enumerations, dimensions and weights are numbers in both. Every read of an entity exists under \`/v21\` and, in the v2 form, under \`/v2\`; everything else only under \`/v21\`.

Decimal strings are canonical: money has two to four decimals, counts no trailing zeros. A request may send a JSON number or a decimal string, of at most 15 significant digits. Money goes with a \`currency\` (ISO 4217) on the record.`;

/** Which write fires which event. */
export const events = `## Events

A creation fires \`CREATE_X\`. A change of any writable field but the status fires \`UPDATE_X\` (response-only fields such as \`stock\`, \`updatedAt\` or \`deliveredAt\` fire nothing). A change of status fires \`UPDATE_X_STATUS\`, and not \`UPDATE_X\` unless another field changed too. A stock movement fires the \`CREATE_STOCK_MOVEMENT_…\` of its type. The payload is the record after the write, as of that moment. The webhook endpoints themselves fire nothing.

An event creates one delivery for each webhook of its type that is active when the event is committed.`;

/** What arrives at the receiver, and what it should do. */
export const receiving = `## What a receiver gets

- **POST**: the entity as its read endpoint gives it (\`data\` without the envelope), \`content-type: application/json\`, in the webhook's \`payloadVersion\`. **GET**: no body; the percent-encoded identifier at the end of the URL.
- On both: \`X-Service-Signature\`, \`X-Service-Event\` (the type), \`X-Service-Delivery\` (the delivery's id, the same on every attempt), \`X-Service-Attempt\` (1–${attempts}), \`User-Agent: Waybill/<version>\`, and \`webhook-id\`, \`webhook-timestamp\`, \`webhook-signature\` of Standard Webhooks.
- Deliveries are **at least once**: drop repeats by the delivery's id. No order between deliveries is promised.
- Success is any 2xx, once the status line and the headers have arrived. The body of the answer is read up to 16 KiB; its first 1 KiB is kept in the delivery log, as text. Answer within 15 s (5 s to connect). Redirects are failures.
- A failure is retried up to ${defaultRetryPolicy.maxRetries} times within ${hours} hours of the first attempt, at exponentially increasing intervals. \`429\` and \`503\` with \`Retry-After\` put the next attempt off accordingly, inside the window.
- Only what says something about the receiver counts as an attempt: its answers, its silence, its connections and certificates, a host name that does not exist or whose name server does not answer. While the fault is ours (our resolver, our network, our machine), nothing is used up and the same attempt is made again. Names are looked up for every connection.
- When all retries fail, the webhook is deactivated and the e-shop gets an e-mail that says how to reactivate it. \`410 Gone\` deactivates it at once, with the e-mail.
- An open delivery of an inactive webhook is **held**. An activation leads to an attempt within seconds, inside the delivery's own window; a window that ends while held ends the delivery as \`expired\`.
- Destinations in private, loopback, link-local, multicast, metadata or otherwise special ranges (IPv4, IPv6, mapped and translated forms) are refused when connecting, on every attempt, unless the operator exempts the range; the ports of this service itself are always refused. A URL that can never work for these reasons is refused with 400 when it is registered.

## How to verify a signature

\`X-Service-Signature: t=<unix seconds>,v1=<hex>\`: \`v1\` is HMAC-SHA256 with the UTF-8 bytes of the whole \`secret\` (with \`whsec_\`) as the key, over \`<t>.<body>\` for POST and \`<t>.<path and query as requested>\` for GET. For 24 hours after the secret was regenerated a second \`v1=\` follows, of the old secret. Refuse a \`t\` that is over five minutes off.

\`webhook-signature: v1,<base64>\` is as the Standard Webhooks specification says, with the base64 part of the secret as the key, over \`<webhook-id>.<webhook-timestamp>.<body>\`; its published libraries verify it. \`webhook-id\` is the delivery's id and the timestamp the same as \`t\`. On GET its body is empty, so it does not protect the identifier: verify \`X-Service-Signature\` there.`;

/** The groups of operations, in the order of the documentation. */
export const tags = [
  { name: 'Authentication', description: 'From name and password to a token.' },
  { name: 'Webhooks', description: 'Subscriptions: which events are delivered where, and how.' },
  { name: 'Deliveries', description: 'The delivery log: what was delivered, what failed, and why.' },
  { name: 'Orders', description: 'Orders of the e-shop.' },
  { name: 'Products', description: 'Products of the e-shop.' },
  { name: 'Receivings', description: 'Goods that are announced, arrive and are stocked.' },
  { name: 'Returns', description: 'Goods that customers send back.' },
  { name: 'Stock movements', description: 'What brought, took or held units of a product.' },
] as const;
