/**
 * The rules of docs/interface.md have numbers, and every citation names one that exists.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { recordCauses } from '../../src/api/event-schemas.ts';
import { eventCauses, webhookCauses } from '../../src/domain/absence.ts';
import { limitReached } from '../../src/domain/delivery-state.ts';
import { eventTypeNames } from '../../src/domain/event-types.ts';
import { omissible } from '../../src/domain/webhook-fields.ts';

const root = resolve(import.meta.dirname, '../..');
const rooms = ['src', 'workflows', 'activities', 'test', 'faults', 'bench', 'mutants', 'demo', 'docs'];

const stated = [
  ...readFileSync(join(root, 'docs/interface.md'), 'utf8').matchAll(/^- \*\*([A-Z]\d+)\*\* /gm),
].map(([, number = '']) => number);

function filesOf(room: string): string[] {
  const entries = readdirSync(root).includes(room)
    ? readdirSync(join(root, room), { recursive: true, encoding: 'utf8' })
    : [];
  return entries.filter((file) => /\.(tsx?|md)$/.test(file)).map((file) => join(room, file));
}

/** A citation may continue on the next line of a comment: "docs/interface.md,\n * D6 and D7". */
function citedIn(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8').replaceAll(/\n\s*(?:\*|\/\/)?\s*/g, ' ');
  const lists = text.matchAll(/docs\/interface\.md, ([A-Z]\d+(?:(?:, | and |–)[A-Z]\d+)*)/g);
  return [...lists].flatMap(([, list = '']) => list.match(/[A-Z]\d+/g) ?? []);
}

it('each number of a rule is used once', () => {
  expect(stated.length).toBeGreaterThan(50);
  expect(stated.filter((number, index) => stated.indexOf(number) !== index)).toEqual([]);
});

it('L14 names limits in the words of the program', () => {
  expect(readFileSync(join(root, 'docs/interface.md'), 'utf8')).toContain(`- \`limit\`: ${limitReached}.`);
});

it('every rule that is cited exists', () => {
  const cited = rooms.flatMap(filesOf).flatMap((file) => citedIn(file).map((number) => ({ file, number })));
  expect(cited.filter(({ number }) => !stated.includes(number))).toEqual([]);
  expect(cited.length).toBeGreaterThan(10);
});

/** The text of a rule. */
function rule(number: string): string {
  const text = readFileSync(join(root, 'docs/interface.md'), 'utf8');
  return new RegExp(`^- \\*\\*${number}\\*\\*.*?(?=^- |^#)`, 'ms').exec(text)?.[0] ?? '';
}

it('W9 names the fields that stay if a replacement leaves them out', () => {
  const [, named = ''] = /default, except (.*?) stay\./s.exec(rule('W9')) ?? [];
  expect(named.match(/(?<=`)\w+(?=`)/g)).toEqual(omissible);
});

/** All names of event types in a text; `…_ORDER` stands for the previous name with this ending. */
function typesIn(text: string): Set<string> {
  const names = text.replaceAll('`…_', 'CREATE_STOCK_MOVEMENT_').match(/\b[A-Z]+(?:_[A-Z]+)+\b/g) ?? [];
  return new Set(names);
}

it('E1 names all event types, and the first pages name no unknown ones', () => {
  const read = (page: string) => readFileSync(join(root, page), 'utf8');
  expect([...typesIn(rule('E1'))].sort()).toEqual([...eventTypeNames].sort());
  const verbs = new Set(eventTypeNames.map((name) => name.split('_')[0] ?? ''));
  for (const page of ['README.md', 'docs/glossary.md'])
    for (const name of typesIn(read(page)))
      if (verbs.has(name.split('_')[0] ?? '')) expect(eventTypeNames, page).toContain(name);
});

it('L9 names each cause of an absence', () => {
  const l9 = rule('L9');
  const causes = [webhookCauses, eventCauses, recordCauses].flatMap((each) => Object.keys(each));
  expect(causes.filter((cause) => !l9.includes(`\`${cause}\``))).toEqual([]);
});
