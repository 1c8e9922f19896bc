/** The names of changed fields, as events carry them. */
import { expect, test } from 'vitest';
import { catalogue, entryOf, sampleChangesOf, sampleOf } from '../../../src/domain/catalogue.ts';
import { changedFields } from '../../../src/domain/changed-fields.ts';
import { eventTypeNames, eventTypes, type Occasion } from '../../../src/domain/event-types.ts';

test("fields are in the record's order, without updatedAt; lists and objects count as a whole", () => {
  const before = { id: '1', status: 'a', note: null, lines: [{ n: '1' }], stock: { n: '1' }, updatedAt: '1' };
  const after = { ...before, stock: { n: '2' }, lines: [{ n: '1' }], status: 'b', updatedAt: '2' };
  expect(changedFields(before, after)).toBe('status,stock');
  expect(changedFields(before, { ...after, lines: [] })).toBe('status,lines,stock');
  expect(changedFields(before, { ...before, updatedAt: '2' })).toBe('');
});

test('a list beyond 1 KiB becomes a star', () => {
  const after = (chars: number) => ({ ['x'.repeat(chars)]: 1 });
  expect(changedFields({}, after(1024))).toHaveLength(1024);
  expect(changedFields({}, after(1025))).toBe('*');
});

test('no kind of record needs the star', () => {
  for (const { sample } of Object.values(catalogue))
    expect(changedFields({}, sample)).toBe(
      Object.keys(sample)
        .filter((name) => name !== 'updatedAt')
        .join(','),
    );
});

/** Whether the fields that a sample says to have changed fit to what happened. */
const fits: Record<Occasion, (changed: readonly string[]) => boolean> = {
  created: (changed) => changed.length === 0,
  updated: (changed) => changed.length > 0 && !changed.includes('status'),
  statusChanged: (changed) => changed.includes('status'),
};

test.each(eventTypeNames)('the sample of %s names changed fields only if it is an update', (type) => {
  const names = sampleChangesOf(type)?.split(',') ?? [];
  expect(fits[eventTypes[type].on](names), String(names)).toBe(true);
  expect(Object.keys(sampleOf(type)).filter((name) => names.includes(name))).toEqual(names);
  expect(names).not.toContain(entryOf(type).idField);
});
