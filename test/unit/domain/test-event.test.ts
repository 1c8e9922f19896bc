/** The record of a test event, which does not exist (docs/interface.md, E5). */
import { expect, test } from 'vitest';
import { sampleOf, testRecordOf } from '../../../src/domain/catalogue.ts';

test('a test event has the sample of its type, under an identifier that no record has', () => {
  const now = new Date('2026-11-23T00:00:00Z');
  const { entityId, record } = testRecordOf('UPDATE_ORDER', now);
  expect(entityId).toMatch(/^TEST-[0-9A-Z]+$/);
  expect(record).toEqual({ ...sampleOf('UPDATE_ORDER'), eshopOrderId: entityId });
  expect(testRecordOf('UPDATE_ORDER', new Date(now.getTime() + 1)).entityId).not.toBe(entityId);
  expect(testRecordOf('CREATE_STOCK_MOVEMENT_ORDER', now)).toMatchObject({
    entityId: '0',
    record: { id: 0 },
  });
});
