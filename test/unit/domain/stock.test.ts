/** The arithmetic of stock, and the movements that the warehouse may record. */
import { describe, expect, test } from 'vitest';
import { stockMovementTypes } from '../../../src/domain/event-types.ts';
import {
  applyChange,
  changeOf,
  negated,
  shortage,
  unitsBySku,
} from '../../../src/domain/stock/arithmetic.ts';
import {
  movementOfLine,
  newMovement,
  sampleMovementOf,
  sampleStockMovement,
} from '../../../src/domain/stock/movement.ts';
import { problemMessage } from '../../support/api/problem-message.ts';

const none = { available: '0', reserved: '0', onHold: '0', awaiting: '0' };

test.each([
  ['0', '0'],
  ['2.5', '-2.5'],
  ['-2.5', '2.5'],
])('%s negated is %s', (decimal, other) => {
  expect(negated(decimal)).toBe(other);
});

test('a change is added exactly, place by place', () => {
  const stock = { available: '0.1', reserved: '1', onHold: '2', awaiting: '3' };
  expect(applyChange(stock, { available: '0.2' })).toEqual({ ...stock, available: '0.3' });
  expect(applyChange(stock, { available: '-1', reserved: '2', onHold: '-3', awaiting: '4' })).toEqual({
    available: '-0.9',
    reserved: '3',
    onHold: '-1',
    awaiting: '7',
  });
});

test('holds and releases move units; other movements add or remove them', () => {
  expect(changeOf('quality_hold', '2')).toEqual({ available: '-2', onHold: '2' });
  expect(changeOf('quality_release', '2')).toEqual({ available: '2', onHold: '-2' });
  for (const type of ['stock_correction', 'completition', 'order', 'return', 'receiving'] as const) {
    expect(changeOf(type, '-2')).toEqual({ available: '-2' });
    expect(changeOf(type, '-2', 'reserved')).toEqual({ reserved: '-2' });
  }
});

describe('the shortage in a stock', () => {
  test.each([
    [none, null],
    [{ ...none, available: '-0.000001' }, 'available'],
    [{ ...none, onHold: '-1' }, 'onHold'],
    [{ ...none, available: '-1', onHold: '-1' }, 'available'],
    [{ ...none, available: '999999999.999999' }, null],
    [{ ...none, available: '1000000000' }, 'tooMuch'],
    [{ ...none, available: '400000000', reserved: '300000000', onHold: '300000000' }, 'tooMuch'],
    [{ ...none, awaiting: '999999999.999999' }, null],
    [{ ...none, awaiting: '1000000000' }, 'tooMuch'],
  ])('%j: %s', (stock, problem) => {
    expect(shortage(stock)).toBe(problem);
  });
});

test('the units of a product are the sum of its lines', () => {
  const lines = [
    { sku: 'TEA', quantity: '0.1' },
    { sku: 'CUP', quantity: '2' },
    { sku: 'TEA', quantity: '0.2' },
  ];
  expect([...unitsBySku(lines)]).toEqual([
    ['TEA', '0.3'],
    ['CUP', '2'],
  ]);
});

test('the movement of a line has its lot and record', () => {
  const line = { sku: 'TEA', lot: 'L1' };
  const movement = {
    type: 'order',
    ...line,
    count: '-2',
    expirationDate: null,
    reference: '10001',
    note: null,
  };
  expect(movementOfLine('order', line, '-2', '10001')).toEqual(movement);
  const expirationDate = '2027-01-31';
  expect(movementOfLine('order', { ...line, expirationDate }, '-2', '10001')).toEqual({
    ...movement,
    expirationDate,
  });
});

describe('a movement', () => {
  const body = { type: 'stock_correction', sku: 'TEA', count: -2 };

  test("has null for omitted fields, and ignores the service's own", () => {
    expect(newMovement({ ...body, id: 7, balance: '9', createdAt: 'now' })).toEqual({
      ...body,
      count: '-2',
      lot: null,
      expirationDate: null,
      reference: null,
      note: null,
    });
  });

  test.each([
    [{ count: 0 }, '400 count: must not be 0'],
    [{ type: 'quality_hold' }, '400 count: must be greater than 0 for quality_hold'],
    [{ type: 'quality_release' }, '400 count: must be greater than 0 for quality_release'],
    [{ type: 'quality_hold', count: 0 }, '400 count: must not be 0'],
    [{ type: 'quality_hold', count: 1 }, 'nothing'],
    [{ type: 'quality_release', count: 1 }, 'nothing'],
    [{ type: 'order' }, 'nothing'],
  ])('with %j is refused: %s', (more, message) => {
    expect(problemMessage(() => newMovement({ ...body, ...more }))).toBe(message);
  });

  test('has a sample for each type', () => {
    const messages = stockMovementTypes.map((type) => {
      const { count, reference, note } = sampleMovementOf(type);
      return [type, count, reference, note];
    });
    expect(messages).toEqual([
      ['stock_correction', '-2', null, sampleStockMovement.note],
      ['completition', '2', null, null],
      ['order', '-2', '2026-10001', null],
      ['return', '2', '2026-R-17', null],
      ['receiving', '2', '2026-IN-42', null],
      ['quality_hold', '2', null, null],
      ['quality_release', '2', null, null],
    ]);
  });
});
