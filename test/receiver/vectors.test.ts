/** The test vectors, made by the sender: the kit and the published library judge them correctly. */
import { readFileSync } from 'node:fs';
import { Webhook } from 'standardwebhooks';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Vector } from '../../receiver/generate/vectors.ts';
import { isOrigin } from '../../receiver/src/delivery.ts';
import { memoryStore, Refused, receiver } from '../../receiver/src/index.ts';
import { sign } from '../../receiver/src/testing.ts';

const folder = new URL('../../receiver/vectors/', import.meta.url);
const vectorsOf = (name: string): Vector[] =>
  JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8'));
const signed = vectorsOf('signed');
const refused = vectorsOf('refused');
const setup = vectorsOf('setup');

it('vectors of every kind exist, and their names are unique', () => {
  expect(signed.every(({ valid }) => valid)).toBe(true);
  expect([...refused, ...setup].some(({ valid }) => valid)).toBe(false);
  expect(new Set([...signed, ...refused, ...setup].map(({ name }) => name)).size).toBe(96);
});

const requestOf = ({ method, target, headers, body }: Vector) =>
  new Request(`https://shop.example${target}`, { method, headers, ...(method === 'POST' ? { body } : {}) });

const versionOf = ({ body }: Vector) => (/"(?:quantity|count)":-?\d/.test(body) ? 'v21' : 'v2');

/** What a handler gets about the change of a request that is accepted, tests included. */
async function seen(vector: Vector): Promise<object | null> {
  let seen: object | null = null;
  const { secrets, now } = vector;
  const settings = { secrets, now: () => now * 1_000, store: memoryStore(), read: async () => ({}) };
  const hooks = receiver({ ...settings, payloadVersion: versionOf(vector), tests: 'handle' }).otherwise(
    (_, { origin, changed }) => {
      seen = { origin, changed };
    },
  );
  await hooks(requestOf(vector), { requestTarget: vector.target });
  return seen;
}

/** The kit's verdict. */
async function judged({ secrets, now, ...vector }: Vector): Promise<string> {
  let problem: unknown = null;
  const hooks = receiver({
    secrets,
    now: () => now * 1_000,
    store: memoryStore(),
    read: async () => ({}),
    payloadVersion: versionOf({ secrets, now, ...vector }),
    onProblem: (thrown) => {
      problem = thrown;
    },
  }).otherwise(() => {});
  const { status } = await hooks(requestOf({ secrets, now, ...vector }), { requestTarget: vector.target });
  if (status === 200) return 'accepted';
  return status === 401 && problem instanceof Refused ? 'refused' : `${status}: ${String(problem)}`;
}

describe('the kit', () => {
  it.each(signed)('accepts $name', async (vector) => {
    expect(await judged(vector)).toBe('accepted');
  });

  it.each(refused)('refuses $name', async (vector) => {
    expect(await judged(vector)).toBe('refused');
  });

  it.each(setup)('does not start with $name', ({ secrets }) => {
    expect(() => receiver({ secrets, store: memoryStore() })).toThrow(TypeError);
  });

  it.each(signed)(
    'signs as the sender does: $name',
    async ({ signedWith, method, target, headers, body }) => {
      const { 'x-service-origin': origin, 'x-service-changed': changed } = headers;
      const made = await sign({
        secrets: signedWith,
        method,
        url: `https://shop.example${target}`,
        kind: headers['x-service-event'] ?? '',
        id: headers['webhook-id'] ?? '',
        attempt: Number(headers['x-service-attempt']),
        at: new Date(Number(headers['webhook-timestamp']) * 1_000),
        test: headers['x-service-test'] === 'true',
        eventId: headers['x-service-event-id'] ?? '',
        sequence: Number(headers['x-service-sequence']),
        webhookId: Number(headers['x-service-webhook']),
        happenedAt: new Date(headers['x-service-event-time'] ?? ''),
        ...(origin !== undefined && isOrigin(origin) ? { origin } : {}),
        ...(changed === undefined ? {} : { changed: changed.split(',') }),
        ...(method === 'POST' ? { body } : {}),
      });
      const own = ({ 'x-service-signature': signature = '', ...rest }: Readonly<Record<string, string>>) => ({
        ...rest,
        // One from a sender before v3, and one with more: the versions that both know.
        'x-service-signature': signature
          .split(',')
          .filter((part) => !part.startsWith('v4') && (origin !== undefined || !part.startsWith('v3'))),
        'x-service-origin': origin,
        'user-agent': '',
      });
      expect(own(made)).toEqual(own(headers));
    },
  );

  it.each(signed)('trusts origin and changed fields only by v3: $name', async (vector) => {
    const { 'x-service-signature': signature = '', ...headers } = vector.headers;
    const said = { origin: headers['x-service-origin'] ?? null, changed: headers['x-service-changed'] };
    expect(await seen(vector)).toEqual({ ...said, changed: said.changed?.split(',') ?? null });
    // Without v3 they may be anybody's.
    const cut = { 'x-service-signature': signature.replace(/,v3=.*/, ''), 'x-service-origin': 'shop' };
    expect(await seen({ ...vector, headers: { ...headers, ...cut } })).toEqual({
      origin: null,
      changed: null,
    });
  });
});

describe('the published standardwebhooks', () => {
  afterEach(() => void vi.useRealTimers());

  it.each(signed)('verifies $name', ({ secrets, now, headers, body }) => {
    vi.setSystemTime(now * 1_000);
    const verified = secrets.some((secret) => {
      try {
        // It decodes base64 by default.
        const known = secret.startsWith('whsec_')
          ? new Webhook(secret)
          : new Webhook(secret, { format: 'raw' });
        known.verify(body, { ...headers }, { jsonParse: false });
        return true;
      } catch {
        return false;
      }
    });
    expect(verified).toBe(true);
  });
});
