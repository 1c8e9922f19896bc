/** Identifiers that begin with their time: UUIDv7 (docs/interface.md, L4). */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { idAt, timeOf } from '../../../src/domain/id-time.ts';

test.each([
  ['2026-11-23T00:00:00.000Z', '01a205b3-d000-0000-0000-000000000000'],
  ['1970-01-01T00:00:00.000Z', '00000000-0000-0000-0000-000000000000'],
  ['1969-12-31T23:59:59.999Z', '00000000-0000-0000-0000-000000000000'],
])('the lowest identifier of %s is %s', (time, id) => {
  expect(idAt(new Date(time))).toBe(id);
});

test('an identifier gives its time, whatever follows, and sorts by time', () => {
  const times = fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true });
  fc.assert(
    fc.property(times, times, (time, other) => {
      const id = idAt(time).replace(/-0000-0000-0{12}$/, '-7fff-bfff-ffffffffffff');
      expect(timeOf(id)).toEqual(time);
      expect(idAt(time) < idAt(other)).toBe(time < other);
    }),
  );
});
