/**
 * Test vectors for receivers in any language: requests made by the sender, and the right verdict on each.
 */
import { createHash, type KeyObject } from 'node:crypto';
import { buildRequest } from '../../src/delivery/request.ts';
import type { PayloadVersion } from '../../src/domain/decimal.ts';
import type { EventType } from '../../src/domain/event-types.ts';
import type { Origin } from '../../src/domain/origin.ts';

/** A request with its right verdict. */
export interface Vector {
  readonly name: string;
  /** The secrets that the sender signed with. */
  readonly signedWith: readonly string[];
  /** The secrets that the receiver knows. */
  readonly secrets: readonly string[];
  /** The receiver's clock, in Unix seconds. */
  readonly now: number;
  readonly method: 'POST' | 'GET';
  /** Path and query as on the request line. */
  readonly target: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Empty on GET. */
  readonly body: string;
  /** A good receiver's verdict; in `setup.json` false says that it must not get as far as a verdict. */
  readonly valid: boolean;
}

/** The body of a kind. */
type BodyOf = (type: EventType, version: PayloadVersion) => string;

/** A public secret. */
const secretOf = (seed: string) => `whsec_${createHash('sha256').update(seed).digest('base64')}`;
export const current = secretOf('current');
const previous = secretOf('previous');
const stranger = secretOf('stranger');
/** A secret that an e-shop has supplied. */
const own = 'the secret of our shop: not to be told';

const at = new Date('2026-11-20T19:33:00.000Z');
/** When all are made, in Unix seconds. */
export const now = at.getTime() / 1_000;
const id = '019a9fd1-7c3e-7b5a-9d2e-3f1c0b7a6e54';

const eventId = '019a9fd1-7c3e-7000-8000-000000000001';

/** What differs between requests. */
interface Sent {
  readonly name: string;
  readonly type?: EventType;
  readonly url?: string;
  readonly body?: string;
  /** For a GET. */
  readonly entityId?: string;
  readonly signedWith?: readonly string[];
  readonly signingKeys?: readonly KeyObject[];
  readonly known?: readonly string[];
  readonly attempt?: number;
  readonly test?: boolean;
  readonly sequence?: number;
  readonly webhookId?: number;
  /** Who made the change; left out: a sender from before `v3`, which does not say. */
  readonly origin?: Origin;
  readonly changed?: string | null;
}

/** A good request. */
export function vector(sent: Sent): Vector {
  const {
    name,
    type = 'CREATE_ORDER',
    body = '',
    entityId,
    signedWith = [current],
    known = [current],
  } = sent;
  const request = {
    eshopId: 1,
    url: sent.url ?? 'https://shop.example/hooks',
    method: entityId === undefined ? ('POST' as const) : ('GET' as const),
    secrets: signedWith,
    staticHeaders: {},
    deliveryId: id,
    webhookId: sent.webhookId ?? 7,
    eventId,
    sequence: sent.sequence ?? 1,
    happenedAt: at,
    origin: sent.origin ?? 'service',
    changed: sent.changed ?? null,
    at,
    eventType: type,
    entityId: entityId ?? '',
    number: sent.attempt ?? 1,
    body: entityId === undefined ? body : null,
    ...(sent.test === true ? { test: true } : {}),
    ...(sent.signingKeys && { signingKeys: sent.signingKeys }),
  };
  const { method, path, headers } = buildRequest(request, '1.0.0');
  const made = { name, signedWith, secrets: known, now, method, target: path, headers, body, valid: true };
  return sent.origin === undefined ? beforeV3(made) : made;
}

/** As a sender from before `v3` makes it. */
function beforeV3(made: Vector): Vector {
  const { 'x-service-origin': _, 'x-service-changed': __, ...headers } = made.headers;
  const signature = headers['x-service-signature']?.replace(/,v3=.*/, '') ?? '';
  return { ...made, headers: { ...headers, 'x-service-signature': signature } };
}

/** Requests that a receiver must accept. */
export function signedVectors(bodyOf: BodyOf): Vector[] {
  const order = bodyOf('CREATE_ORDER', 'v2');
  return [
    vector({ name: 'an order in v2', body: order }),
    vector({ name: 'an order in v21', body: bodyOf('CREATE_ORDER', 'v21') }),
    vector({
      name: 'an order with packing lists, the last attempt',
      type: 'UPDATE_ORDER_STATUS',
      body: bodyOf('UPDATE_ORDER_STATUS', 'v21'),
      attempt: 21,
      sequence: 41,
      webhookId: 12,
    }),
    vector({
      name: 'a stock movement',
      type: 'CREATE_STOCK_MOVEMENT_ORDER',
      body: bodyOf('CREATE_STOCK_MOVEMENT_ORDER', 'v2'),
    }),
    vector({ name: 'characters of every length in UTF-8', body: '{"note":"aé€𝄞 \\u0000 \\" \u2028"}' }),
    vector({ name: 'a body that looks like a signature', body: '{"note":"t=1,v1=00,v1,AA=="}' }),
    vector({ name: 'a test', body: order, test: true }),
    vector({
      name: 'both secrets sign, both are known',
      body: order,
      signedWith: [current, previous],
      known: [current, previous],
    }),
    vector({
      name: 'both secrets sign, only the new one is known',
      body: order,
      signedWith: [current, previous],
    }),
    vector({
      name: 'both secrets sign, only the old one is known',
      body: order,
      signedWith: [current, previous],
      known: [previous],
    }),
    vector({
      name: 'one secret signs, two are known, it is the second',
      body: order,
      signedWith: [previous],
      known: [current, previous],
    }),
    vector({
      name: 'a GET, the identifier in the path',
      url: 'https://shop.example/hooks/',
      entityId: '2026-10001',
    }),
    vector({
      name: 'a GET, the identifier in the query',
      url: 'https://shop.example/hooks?from=warehouse&order=',
      entityId: '2026-10001',
    }),
    vector({
      name: 'a GET, an identifier that is percent-encoded',
      url: 'https://shop.example/hooks/',
      entityId: "10/1 ž?&=#(*)!'",
    }),
    vector({ name: 'a GET of an address without a path', url: 'https://shop.example', entityId: '10001' }),
    vector({
      name: 'a GET signed with both secrets, the old one is known',
      url: 'https://shop.example/hooks/',
      entityId: '1',
      signedWith: [current, previous],
      known: [previous],
    }),
    vector({
      name: 'a secret of one’s own, which does not begin with whsec_',
      body: order,
      signedWith: [own],
      known: [own],
    }),
    vector({
      name: 'a generated secret beside the own one before it',
      body: order,
      signedWith: [current, own],
      known: [own],
    }),
    ...writtenVectors(bodyOf),
    { ...vector({ name: 'five minutes old', body: order }), now: now + 300 },
    { ...vector({ name: 'five minutes ahead', body: order }), now: now - 300 },
  ];
}

/** Requests with `v3`, which says who made the change and what it changed. */
function writtenVectors(bodyOf: BodyOf): Vector[] {
  const body = bodyOf('UPDATE_ORDER', 'v2');
  const update = { type: 'UPDATE_ORDER', body, origin: 'shop', changed: 'note,priority' } as const;
  const later = vector({ ...update, name: 'v3 beside a version that is still to come' });
  const signature = `${later.headers['x-service-signature']},v4=00`;
  return [
    vector({ ...update, name: 'v3 of a change by the e-shop' }),
    vector({
      name: 'v3 of a creation, which has no changed fields',
      body: bodyOf('CREATE_ORDER', 'v2'),
      origin: 'warehouse',
    }),
    vector({
      name: 'v3 of a change by the service, of more fields than are named',
      type: 'UPDATE_ORDER_STATUS',
      body: bodyOf('UPDATE_ORDER_STATUS', 'v21'),
      origin: 'service',
      changed: '*',
    }),
    vector({ ...update, name: 'v3 of a test', test: true }),
    vector({
      ...update,
      name: 'v3 by both secrets, only the old one is known',
      signedWith: [current, previous],
      known: [previous],
    }),
    vector({
      name: 'v3 of a GET',
      type: 'UPDATE_ORDER',
      url: 'https://shop.example/hooks/',
      entityId: '2026-10001',
      origin: 'shop',
      changed: 'note',
    }),
    { ...later, headers: { ...later.headers, 'x-service-signature': signature } },
  ];
}

/** Requests that a receiver must refuse. */
export function refusedVectors(bodyOf: BodyOf): Vector[] {
  const body = bodyOf('CREATE_ORDER', 'v2');
  const post = (name: string, sent: Partial<Sent> = {}) => vector({ name, body, ...sent });
  const get = (name: string, sent: Partial<Sent> = {}) =>
    vector({ name, url: 'https://shop.example/hooks/', entityId: '10001', ...sent });
  const with_ = (base: Vector, headers: Readonly<Record<string, string>>): Vector => ({
    ...base,
    headers: { ...base.headers, ...headers },
  });
  const without = (base: Vector, name: string): Vector => ({
    ...base,
    headers: Object.fromEntries(Object.entries(base.headers).filter(([each]) => each !== name)),
  });
  const signature = post('').headers['x-service-signature'] ?? '';
  const update = vector({
    name: '',
    type: 'UPDATE_ORDER',
    body: bodyOf('UPDATE_ORDER', 'v2'),
    origin: 'warehouse',
    changed: 'note,priority',
  });
  const written = (name: string, headers: Readonly<Record<string, string>> = {}) =>
    with_({ ...update, name }, headers);
  const joined = update.headers['x-service-signature'] ?? '';
  const all: Vector[] = [
    post('another secret', { signedWith: [stranger] }),
    get('a GET with another secret', { signedWith: [stranger] }),
    post('the previous secret, which is no longer known', { signedWith: [previous] }),
    post('another secret of one’s own', { signedWith: [`${own}!`], known: [own] }),
    { ...post('another body'), body: body.replace('10001', '10002') },
    { ...post('a body written again with spaces'), body: JSON.stringify(JSON.parse(body), null, 1) },
    { ...post('a body with a newline at its end'), body: `${body}\n` },
    { ...post('an empty body'), body: '' },
    { ...get('a GET of another identifier'), target: '/hooks/10002' },
    { ...get('a GET whose path a proxy has shortened'), target: '/10001' },
    { ...get('a GET whose escapes were decoded', { entityId: 'a b' }), target: '/hooks/a b' },
    { ...post('older than five minutes'), now: now + 301 },
    { ...post('more than five minutes ahead'), now: now - 301 },
    with_(post('another time in the header'), {
      'x-service-signature': signature.replace(`t=${now}`, `t=${now + 1}`),
      'webhook-timestamp': String(now + 1),
    }),
    with_(post('no time in the header'), { 'x-service-signature': signature.replace(/^t=\d+,/, '') }),
    with_(post('a time that is not a number'), {
      'x-service-signature': signature.replace(`t=${now}`, 't=soon'),
      'webhook-timestamp': 'soon',
    }),
    with_(post('an empty v2'), { 'x-service-signature': signature.replace(/v2=.*/, 'v2=') }),
    with_(post('half of a v2'), { 'x-service-signature': signature.slice(0, -32) }),
    with_(post('v1 alone'), { 'x-service-signature': signature.replace(/,v2=.*/, '') }),
    with_(post('v1 in the place of v2'), {
      'x-service-signature': signature.replace(/v1=(.*),v2=.*/, 'v1=$1,v2=$1'),
    }),
    without(post('no X-Service-Signature'), 'x-service-signature'),
    with_(post('another delivery: a repeat that is not to be recognized'), {
      'x-service-delivery': '019a9fd1-0000-7000-8000-000000000000',
      'webhook-id': '019a9fd1-0000-7000-8000-000000000000',
    }),
    with_(post('another event'), { 'x-service-event-id': '019a9fd1-0000-7000-8000-000000000000' }),
    with_(post('another kind'), { 'x-service-event': 'UPDATE_ORDER' }),
    with_(post('another sequence'), { 'x-service-sequence': '2' }),
    without(post('no sequence'), 'x-service-sequence'),
    with_(post('another webhook'), { 'x-service-webhook': '8' }),
    with_(post('a delivery made a test'), { 'x-service-test': 'true' }),
    without(post('a test made a delivery', { test: true }), 'x-service-test'),
    { ...post('a POST of another path'), target: '/other' },
    { ...post('a POST of another query'), target: '/hooks?order=2' },
    { ...get('a GET made a POST'), method: 'POST' },
    written('another origin', { 'x-service-origin': 'shop' }),
    without(written('no origin'), 'x-service-origin'),
    written('another changed field', { 'x-service-changed': 'note' }),
    without(written('no changed fields'), 'x-service-changed'),
    with_(post('changed fields of a creation', { origin: 'warehouse' }), { 'x-service-changed': 'note' }),
    written('an empty v3 beside v2', { 'x-service-signature': joined.replace(/v3=.*/, 'v3=') }),
    written('half of a v3 beside v2', { 'x-service-signature': joined.slice(0, -32) }),
    written('v2 in the place of v3', {
      'x-service-signature': joined.replace(/v2=(.*),v3=.*/, 'v2=$1,v3=$1'),
    }),
    written('v3 in the place of v2, without a v3', {
      'x-service-signature': joined.replace(/v2=.*,v3=(.*)/, 'v2=$1'),
    }),
    with_(get('a GET with the Standard Webhooks signature alone'), { 'x-service-signature': `t=${now}` }),
  ];
  return all.map((each) => ({ ...each, valid: false }));
}

/**
 * Requests signed with what is no secret, at receivers set up with it: to be reported as the receiver's own mistake,
 * and to end its start, never as a request that cannot be verified.
 */
export function setupVectors(): Vector[] {
  const body = '{"eshopOrderId":"2026-10001"}';
  const badly = (name: string, bad: string, known: readonly string[] = [bad]) => ({
    ...vector({ name, body, signedWith: [bad], known }),
    valid: false,
  });
  return [
    badly('an empty secret', ''),
    badly('an empty secret behind a good one', '', [current, '']),
    badly('one character, as of a secret that is taken for a list', 'w'),
    badly('a secret of one’s own with 23 characters', own.slice(0, 23)),
    badly('whsec_ and nothing', 'whsec_'),
    badly('a generated secret that was cut off', current.slice(0, 37)),
    badly('a generated secret without its last character', current.slice(0, -1)),
    badly('whsec_ and 24 bytes less one', `whsec_${Buffer.alloc(23, 'k').toString('base64')}`),
    badly('whsec_ and spaces', `whsec_${' '.repeat(44)}`),
    badly('24 spaces', ' '.repeat(24)),
    badly('a generated secret in quotes', `"${current}"`),
    badly('a secret of one’s own in quotes', `'${own}'`),
    badly('a generated secret and a newline', `${current}\n`),
    badly('a secret of one’s own and a newline', `${own}\n`),
    badly('a secret of one’s own behind a space', ` ${own}`),
    badly('a secret of one’s own with a tab in it', own.replace(':', '\t')),
    badly('a generated secret and a character that nobody sees', `${current}\u200b`),
    badly('a secret of one’s own and a character that nobody sees', `\ufeff${own}`),
    badly('a secret of one’s own behind 256 characters', own.repeat(7)),
    badly('an API key', `wb_${'k'.repeat(43)}`),
    badly('a variable of a shell that nothing replaced', `\${WAREHOUSE_WEBHOOK_SECRET}`),
    badly('the same without braces', '$WAREHOUSE_WEBHOOK_SECRET'),
    badly('a command that nothing ran', '$(cat /run/secrets/webhook)'),
    badly('a variable of Windows', '%WAREHOUSE_WEBHOOK_SECRET%'),
    badly('a template that nothing filled', 'secret-{{ .Values.webhook.secret }}'),
    badly('words in the place of a secret', '<the secret of your webhook>'),
    badly('whsec_ and words in its place', 'whsec_<the secret of your webhook, in base64>'),
  ];
}
