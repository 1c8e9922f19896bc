/** Every warning and error of the log is explained in the handbook. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { alarms } from '../../src/attempt/watch.ts';
import { filesOf } from '../support/repository/imports.ts';

const root = resolve(import.meta.dirname, '../..');
const document = readFileSync(join(root, 'docs/handbook/log.md'), 'utf8');
const sources = ['src', 'activities'].flatMap((folder) => filesOf(root, folder));

/** The arguments of each call that logs a warning or an error. */
function callsIn(source: string): string[] {
  return [...source.matchAll(/\blog\.(?:warn|error)\(/g)].map(({ index, 0: call }) => {
    let depth = 1;
    let end = index + call.length;
    for (; depth > 0; end += 1)
      depth += '([{'.includes(source[end] ?? '') ? 1 : ')]}'.includes(source[end] ?? '') ? -1 : 0;
    return source.slice(index + call.length, end - 1);
  });
}

/** The longest part of each text that is always the same. */
function textsIn(call: string): string[] {
  const literals = call.match(/'[^'\n]{10,}'|"[^"\n]{10,}"|`[^`\n]{10,}`/g) ?? [];
  return literals.map((literal) => {
    const parts = literal.slice(1, -1).split(/\$\{[^}]*\}/);
    return parts.reduce((longest, part) => (part.length > longest.length ? part : longest)).trim();
  });
}

const logged = sources.flatMap((path) =>
  callsIn(readFileSync(join(root, path), 'utf8')).map((call) => ({ path, texts: textsIn(call) })),
);

test('every warning and error is in the table', () => {
  const texts = logged.flatMap((each) => each.texts);
  expect(texts.length).toBeGreaterThan(30);
  // The table shows the beginning of a long one.
  expect(
    texts.filter((text) => !document.includes(text.replace(/\.$/, '').split(/[:.] /)[0] ?? text)),
  ).toEqual([]);
});

test('every alarm is in the table, and only two files log texts from elsewhere', () => {
  const elsewhere = logged.filter(({ texts }) => texts.length === 0).map(({ path }) => path);
  expect(elsewhere.sort()).toEqual(['src/log/delivery-log.ts', 'src/temporal/poll-until-stopped.ts']);
  for (const alarm of alarms) expect(document).toContain(`"alarm":"${alarm}"`);
});
