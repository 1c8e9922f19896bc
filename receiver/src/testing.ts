/** For the tests of a receiver: deliveries as the sender makes them. */
import type { Origin } from './delivery.ts';
import type { Kind } from './kinds.ts';
import type { Payload, PayloadVersion } from './payloads.generated.ts';
import { sampleOf } from './samples.generated.ts';
import { serviceJoined, serviceV1, standardV1, standardV1a } from './signature.ts';

/** A secret for tests. */
export const testSecret = 'whsec_dGVzdHMgb25seTogdGhpcyBpcyBub3QgYSBzZWNyZXQ=';

/** A key pair for tests, which is public. */
export const testPublicKey = 'whpk_60fRk47haIhfK3ZmPag8jH8zHLnzsmLKtJpO7ZkgUDI=';
export const testPrivateKey =
  'whsk_jYGgjzVGFcrbf8z0hBn8a7l5IJlJeCBy2leSL35WdvnrR9GTjuFoiF8rdmY9qDyMfzMcufOyYsq0mk7tmSBQMg==';

/** One attempt, before it is signed. */
export interface Attempt {
  /** One or two secrets, newest first (default: `testSecret`). */
  readonly secrets?: string | readonly string[];
  readonly method: 'POST' | 'GET';
  /** The whole URL; on GET it ends with the identifier. */
  readonly url: string;
  readonly kind: string;
  /** Default: a new one. */
  readonly id?: string;
  /** The id of the event (default: a new one). */
  readonly eventId?: string;
  /** Default: 1. */
  readonly sequence?: number;
  /** Default: 1. */
  readonly webhookId?: number;
  /** When the event happened (default: when it is signed). */
  readonly happenedAt?: Date;
  /** Who made the change (default: `warehouse`). */
  readonly origin?: Origin;
  /** The fields that it changed (default: none are named). */
  readonly changed?: readonly string[];
  /** Default: 1. */
  readonly attempt?: number;
  /** Exactly as sent; none on GET. */
  readonly body?: string;
  /** When it is signed (default: now). */
  readonly at?: Date;
  /** Marks a sample, whose record does not exist. */
  readonly test?: boolean;
  /**
   * Private keys (`whsk_…`, such as `testPrivateKey`), newest first: `webhook-signature` has a `v1a` of each
   * (default: none).
   */
  readonly privateKeys?: string | readonly string[];
}

const listOf = (given: string | readonly string[]) => (typeof given === 'string' ? [given] : given);

/** The headers that the sender would send with this attempt. */
export async function sign(attempt: Attempt): Promise<Record<string, string>> {
  const { secrets = testSecret, method, url, kind, body = '', at = new Date() } = attempt;
  const id = attempt.id ?? crypto.randomUUID();
  const { privateKeys = [] } = attempt;
  const list = listOf(secrets);
  const timestamp = Math.floor(at.getTime() / 1_000);
  const { pathname, search } = new URL(url);
  const target = `${pathname}${search}`;
  const content = method === 'GET' ? target : body;
  const test = attempt.test === true;
  const { eventId = crypto.randomUUID(), happenedAt = at } = attempt;
  const sequence = String(attempt.sequence ?? 1);
  const webhook = String(attempt.webhookId ?? 1);
  const v1s = await Promise.all(list.map((secret) => serviceV1(secret, timestamp, content)));
  const signed = { timestamp, id, body: method === 'GET' ? '' : body };
  const { origin = 'warehouse' } = attempt;
  const changed = attempt.changed?.join(',') ?? '';
  const joined = { ...signed, eventId, kind, sequence, webhook, origin, changed, test, method, target };
  const v2s = await Promise.all(list.map((secret) => serviceJoined('v2', secret, joined)));
  const v3s = await Promise.all(list.map((secret) => serviceJoined('v3', secret, joined)));
  const v1 = await Promise.all(list.map((secret) => standardV1(secret, signed)));
  const v1a = await Promise.all(listOf(privateKeys).map((key) => standardV1a(key, signed)));
  const standard = [...v1.map((each) => `v1,${each}`), ...v1a.map((each) => `v1a,${each}`)];
  return {
    'user-agent': 'Waybill/test',
    'accept-encoding': 'identity',
    'x-service-signature': [
      `t=${timestamp}`,
      ...v1s.map((v1) => `v1=${v1}`),
      ...v2s.map((v2) => `v2=${v2}`),
      ...v3s.map((v3) => `v3=${v3}`),
    ].join(','),
    'x-service-event': kind,
    'x-service-event-id': eventId,
    'x-service-event-time': happenedAt.toISOString(),
    'x-service-sequence': sequence,
    'x-service-origin': origin,
    ...(changed === '' ? {} : { 'x-service-changed': changed }),
    'x-service-webhook': webhook,
    'x-service-delivery': id,
    'x-service-attempt': String(attempt.attempt ?? 1),
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': standard.join(' '),
    ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
    ...(test ? { 'x-service-test': 'true' } : {}),
  };
}

/** How a fake delivery differs from the sample. */
export interface FakeOptions<K extends Kind, V extends PayloadVersion>
  extends Partial<Omit<Attempt, 'kind' | 'body'>> {
  /** Default: `v2`. */
  readonly payloadVersion?: V;
  /** Fields to replace in the sample. */
  readonly payload?: Partial<Payload<K, V>>;
  /** GET: the identifier appended to the URL (default: that of the sample). */
  readonly entityId?: string;
}

/**
 * A request as the sender would make it, signed with `testSecret` unless another secret is given.
 *
 * @example
 * const hooks = receiver({ secrets: testSecret, store: memoryStore() }).on('CREATE_ORDER', save);
 * const response = await hooks(await fakeDelivery('CREATE_ORDER', { payload: { paid: true } }));
 */
export async function fakeDelivery<K extends Kind, V extends PayloadVersion = 'v2'>(
  kind: K,
  options: FakeOptions<K, V> = {},
): Promise<Request> {
  const { method = 'POST', payloadVersion = 'v2', payload, entityId, ...rest } = options;
  const sample = sampleOf(kind, payloadVersion);
  if (method === 'POST') {
    const url = options.url ?? 'https://shop.example/hooks';
    const body = JSON.stringify({ ...sample.record, ...payload });
    const headers = await sign({ ...rest, method, url, kind, body });
    return new Request(url, { method, headers, body });
  }
  const base = options.url ?? 'https://shop.example/hooks/';
  const url = `${base}${encoded(entityId ?? sample.id)}`;
  return new Request(url, { method, headers: await sign({ ...rest, method, url, kind }) });
}

/** Percent-encodes everything but the unreserved characters of RFC 3986, as the sender does. */
export function encoded(identifier: string): string {
  return encodeURIComponent(identifier).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
