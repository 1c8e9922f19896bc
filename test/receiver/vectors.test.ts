/** The test vectors, made by the sender: the kit and the published library judge them correctly. */
import { readFileSync } from 'node:fs';
import { Webhook } from 'standardwebhooks';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { memoryStore, Refused, receiver } from '../../receiver/src/index.ts';
import { sign } from '../../receiver/src/testing.ts';
import type { Vector } from './vectors.ts';

const folder = new URL('../../receiver/vectors/', import.meta.url);
const vectorsOf = (name: string): Vector[] =>
  JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8'));
const signed = vectorsOf('signed');
const refused = vectorsOf('refused');
const setup = vectorsOf('setup');

it('there are vectors of every kind, each with a name of its own', () => {
  expect(signed.every(({ valid }) => valid)).toBe(true);
  expect([...refused, ...setup].some(({ valid }) => valid)).toBe(false);
  expect(new Set([...signed, ...refused, ...setup].map(({ name }) => name)).size).toBe(80);
});

const requestOf = ({ method, target, headers, body }: Vector) =>
  new Request(`https://shop.example${target}`, { method, headers, ...(method === 'POST' ? { body } : {}) });

/** The kit's verdict. */
async function judged({ secrets, now, ...vector }: Vector): Promise<string> {
  let problem: unknown = null;
  const hooks = receiver({
    secrets,
    now: () => now * 1_000,
    store: memoryStore(),
    read: async () => ({}),
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
        ...(method === 'POST' ? { body } : {}),
      });
      expect({ ...made, 'user-agent': '' }).toEqual({ ...headers, 'user-agent': '' });
    },
  );
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
