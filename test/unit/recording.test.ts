/** The recorded terminal of the README: what it shows. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const recorded = readFileSync(new URL('../../docs/images/kill.svg', import.meta.url), 'utf8');

it('is of a run in which everything was killed, and the order arrived in an attempt of the same number', () => {
  const texts = [...recorded.matchAll(/<\/tspan><tspan[^>]*>([^<]*)</g)].map(([, text = '']) => text);
  const place = (pattern: RegExp) => texts.findIndex((text) => pattern.test(text));
  const killed = place(/^\$ kill -9 \d+/);
  expect(place(/^200 Order created\.$/)).toBeGreaterThan(0);
  expect(killed).toBeGreaterThan(place(/CREATE_ORDER 10001, attempt 1: saving it/));
  expect(place(/Failed to connect/)).toBeGreaterThan(killed);
  expect(place(/order 10001 is saved/)).toBeGreaterThan(killed);
  expect(texts.at(-1)).toBe("state: 'delivered', attemptsMade: 1");
});
