/** The recorded terminal of the README: what it shows, and that it stays light. */
import { readFileSync } from 'node:fs';
import { expect, it, test } from 'vitest';
import { type Line, shownAt, terminalSvg } from '../../docs/images/terminal.ts';

const recorded = readFileSync(new URL('../../docs/images/kill.svg', import.meta.url), 'utf8');

const lines: Line[] = [
  { atMs: 0, kind: 'command', text: 'npm start &' },
  { atMs: 20_000, kind: 'good', text: 'Waybill is ready.' },
  { atMs: 20_300, kind: 'output', text: '1 < 2 & 3' },
];

test('long waits are shown short, and the clock keeps the true time', () => {
  expect(shownAt(lines)).toEqual([0, 1_800, 2_100]);
  expect(terminalSvg('A title', lines)).toMatch(/>00:20<.*Waybill is ready\./);
});

test('what was printed is text, not markup', () => {
  expect(terminalSvg('A title', lines)).toContain('1 &lt; 2 &amp; 3');
});

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

it('moves without a script, stands still for who wants no motion, and is under 1 MB', () => {
  expect(recorded).not.toContain('<script');
  expect(recorded).toContain('prefers-reduced-motion:no-preference');
  expect(Buffer.byteLength(recorded)).toBeLessThan(1_000_000);
});
