import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { catalogue, entryOf, sampleOf } from '../../src/domain/catalogue.ts';
import { payloadVersions } from '../../src/domain/decimal.ts';
import {
  eventOfMovement,
  eventOn,
  eventTypeNames,
  eventTypes,
  movementOf,
} from '../../src/domain/event-types.ts';
import { eventsOf } from '../../src/domain/fired-events.ts';
import { decimalFields, decimalObjects, renderValue } from '../../src/domain/render.ts';

function hasDecimalForm(schema: object): boolean {
  if ('metadata' in schema && schema.metadata instanceof Object) return 'decimal' in schema.metadata;
  return (
    'pipe' in schema &&
    Array.isArray(schema.pipe) &&
    schema.pipe.some((part) => part !== schema && hasDecimalForm(part))
  );
}

/** All texts of a record, at any depth: whether they are decimals, by their schema and by their name. */
function fieldsOf(
  schema: object,
  name = '',
  inDecimals = false,
): { name: string; isDecimal: boolean; byName: boolean }[] {
  const inside = (field: string, value: unknown) =>
    typeof value === 'object' && value !== null ? fieldsOf(value, field, decimalObjects.has(name)) : [];
  if ('wrapped' in schema && schema.wrapped instanceof Object)
    return fieldsOf(schema.wrapped, name, inDecimals);
  if ('item' in schema && schema.item instanceof Object) return fieldsOf(schema.item, name, inDecimals);
  if ('entries' in schema && schema.entries instanceof Object)
    return Object.entries(schema.entries).flatMap(([field, value]) => inside(field, value));
  const isDecimal = hasDecimalForm(schema);
  return [{ name, isDecimal, byName: inDecimals || decimalFields.has(name) }];
}

describe.each(Object.values(catalogue).map((entry) => [entry.kind, entry] as const))('%s', (_kind, entry) => {
  test.each(payloadVersions)('the sample fits the %s form, and no other', (version) => {
    const options = { version, withPackingLists: true };
    const result = v.safeParse(entry.recordSchema(version), renderValue(entry.sample, options));
    expect(result.issues?.map((issue) => [v.getDotPath(issue), issue.message])).toBeUndefined();
    const other = version === 'v2' ? 'v21' : 'v2';
    expect(v.is(entry.recordSchema(other), renderValue(entry.sample, options))).toBe(false);
  });

  // v21 and the receiver's kit know decimals by their names.
  test('a field has the name of a decimal if and only if it is one', () => {
    const names = fieldsOf(entry.recordSchema('v2'));
    expect(names.filter(({ isDecimal, byName }) => isDecimal !== byName)).toEqual([]);
    expect(names.some(({ isDecimal }) => isDecimal)).toBe(true);
  });

  test("the sample has the identifier and the service's own fields", () => {
    expect(Object.keys(entry.sample)).toEqual(expect.arrayContaining([entry.idField, ...entry.responseOnly]));
  });

  test("a change of the service's own fields fires nothing", () => {
    const { responseOnly, firesInstead = {} } = entry;
    const own = responseOnly.filter((name) => !Object.hasOwn(firesInstead, name));
    const changed = { ...entry.sample, ...Object.fromEntries(own.map((name) => [name, 'another'])) };
    expect(eventsOf(entry, entry.sample, entry.sample)).toEqual([]);
    expect(eventsOf(entry, entry.sample, changed)).toEqual([]);
  });

  test('a change of a field with its own occasion fires only that event', () => {
    for (const [name, on] of Object.entries(entry.firesInstead ?? {})) {
      const changed = { ...entry.sample, [name]: 'another' };
      expect(eventsOf(entry, entry.sample, changed)).toEqual([eventOn(entry.kind, on)]);
    }
  });
});

test.each(eventTypeNames)('%s fires as its entry says, and its sample is such a record', (type) => {
  const entry = entryOf(type);
  const { entity, on } = eventTypes[type];
  expect(entry.kind).toBe(entity);
  expect(v.is(entry.recordSchema('v2'), sampleOf(type))).toBe(true);
  const first = { order: 'preReceived', receiving: 'awaiting', return: 'awaiting', product: undefined };
  if (on === 'created' && entity !== 'stockMovement')
    expect(Reflect.get(sampleOf(type), 'status')).toBe(first[entity]);
  const movement = movementOf(type);
  if (movement !== null) {
    expect(eventOfMovement(movement)).toBe(type);
    expect(sampleOf(type)).toMatchObject({ type: movement });
    expect(eventsOf(entry, null, entry.sample)).toEqual([]);
    return;
  }
  const { firesInstead = {} } = entry;
  const [field = ''] = Object.keys(entry.sample).filter(
    (name) => (firesInstead[name] ?? (entry.responseOnly.includes(name) ? null : 'updated')) === on,
  );
  const before = on === 'created' ? null : entry.sample;
  const after = on === 'created' ? entry.sample : { ...entry.sample, [field]: 'another' };
  expect(eventsOf(entry, before, after)).toContain(type);
});
