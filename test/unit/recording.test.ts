/** A recorded terminal as an animated picture. */
import { expect, test } from 'vitest';
import { type Line, shownAt, terminalSvg } from '../../docs/images/terminal.ts';

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

test('it moves without a script, and stands still for who wants no motion', () => {
  const svg = terminalSvg('A title', lines);
  expect(svg).not.toContain('<script');
  expect(svg).toContain('prefers-reduced-motion:no-preference');
});
