import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { catalogue } from '../../src/domain/catalogue.ts';
import { eventsOf } from '../../src/domain/changes.ts';
import { payloadVersions } from '../../src/domain/decimal.ts';
import { eventTypes } from '../../src/domain/event-types.ts';
import { renderValue } from '../../src/domain/render.ts';

describe.each(catalogue.map((entry) => [entry.kind, entry] as const))('%s', (_kind, entry) => {
  test.each(payloadVersions)('its sample is a record of the %s form and of no other', (version) => {
    const options = { version, withPackingLists: true };
    const result = v.safeParse(entry.recordSchema(version), renderValue(entry.sample, options));
    expect(result.issues?.map((issue) => [v.getDotPath(issue), issue.message])).toBeUndefined();
    const other = version === 'v2' ? 'v21' : 'v2';
    expect(v.is(entry.recordSchema(other), renderValue(entry.sample, options))).toBe(false);
  });

  test('its identifier and its own fields are fields of the sample, its events are of its kind', () => {
    expect(Object.keys(entry.sample)).toEqual(expect.arrayContaining([entry.idField, ...entry.responseOnly]));
    for (const type of Object.values(entry.events)) {
      if (type !== null) expect(eventTypes[type].entity).toBe(entry.kind);
    }
  });

  test('a change of its own fields alone fires nothing', () => {
    const own = entry.responseOnly.filter((name) => name !== 'status');
    const changed = { ...entry.sample, ...Object.fromEntries(own.map((name) => [name, 'another'])) };
    expect(eventsOf(entry, entry.sample, entry.sample)).toEqual([]);
    expect(eventsOf(entry, entry.sample, changed)).toEqual([]);
  });
});
