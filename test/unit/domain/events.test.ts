/** The events of each write (docs/interface.md, E1–E4), and the states of a delivery. */
import { describe, expect, test } from 'vitest';
import { catalogue } from '../../../src/domain/catalogue.ts';
import { isOpen, storedStates } from '../../../src/domain/delivery-state.ts';
import {
  eventOfMovement,
  eventOn,
  eventTypeNames,
  eventTypes,
  packingListEventTypes,
  stockMovementTypes,
} from '../../../src/domain/event-types.ts';
import { eventsOf } from '../../../src/domain/fired-events.ts';

const { order, product, receiving, return: returned, stockMovement } = catalogue;

describe('a write of a record', () => {
  test('fires a creation, an update, a change of status, or nothing', () => {
    const before = order.sample;
    expect(eventsOf(order, null, before)).toEqual(['CREATE_ORDER']);
    expect(eventsOf(order, before, { ...before })).toEqual([]);
    expect(eventsOf(order, before, { ...before, note: 'x' })).toEqual(['UPDATE_ORDER']);
    expect(eventsOf(order, before, { ...before, status: 'x' })).toEqual(['UPDATE_ORDER_STATUS']);
    expect(eventsOf(order, before, { ...before, note: 'x', status: 'x' })).toEqual([
      'UPDATE_ORDER',
      'UPDATE_ORDER_STATUS',
    ]);
  });

  test("fires nothing for the service's own fields", () => {
    const own = { updatedAt: 'x', deliveredAt: 'x', statusHistory: [] };
    expect(eventsOf(order, order.sample, { ...order.sample, ...own })).toEqual([]);
    const counted = { ...receiving.sample, unitsAmount: '7' };
    expect(eventsOf(receiving, receiving.sample, counted)).toEqual([]);
  });

  test("treats the warehouse's note of a return like any other field", () => {
    const before = returned.sample;
    expect(eventsOf(returned, before, { ...before, note: 'x' })).toEqual(['UPDATE_RETURN']);
    expect(eventsOf(returned, before, { ...before, note: 'x', status: 'x' })).toEqual([
      'UPDATE_RETURN',
      'UPDATE_RETURN_STATUS',
    ]);
    expect(eventsOf(returned, before, { ...before, receivedAt: 'x', confirmedAt: 'x' })).toEqual([]);
  });

  test('fires creations and updates of a product, and nothing here for a stock movement', () => {
    expect(eventsOf(product, null, product.sample)).toEqual(['CREATE_PRODUCT']);
    expect(eventsOf(product, product.sample, { ...product.sample, name: 'x' })).toEqual(['UPDATE_PRODUCT']);
    expect(eventsOf(stockMovement, null, stockMovement.sample)).toEqual([]);
  });

  test('fires a different event for each kind and occasion', () => {
    const occasions = [...new Set(Object.values(eventTypes).map(({ on }) => on))];
    const table = (['order', 'product', 'receiving', 'return', 'stockMovement'] as const).map((entity) =>
      occasions.map((on) => eventOn(entity, on)),
    );
    expect(table).toEqual([
      ['CREATE_ORDER', 'UPDATE_ORDER', 'UPDATE_ORDER_STATUS'],
      ['CREATE_PRODUCT', 'UPDATE_PRODUCT', null],
      ['CREATE_RECEIVING', 'UPDATE_RECEIVING', 'UPDATE_RECEIVING_STATUS'],
      ['CREATE_RETURN', 'UPDATE_RETURN', 'UPDATE_RETURN_STATUS'],
      [null, null, null],
    ]);
    const fired = [...table.flat(), ...stockMovementTypes.map(eventOfMovement)];
    expect(eventTypeNames.filter((type) => !fired.includes(type))).toEqual([]);
  });
});

test('each type of movement has its own event', () => {
  expect(stockMovementTypes.map((type) => [type, eventOfMovement(type)])).toEqual([
    ['stock_correction', 'CREATE_STOCK_MOVEMENT_STOCK_CORRECTION'],
    ['completition', 'CREATE_STOCK_MOVEMENT_COMPLETITION'],
    ['order', 'CREATE_STOCK_MOVEMENT_ORDER'],
    ['return', 'CREATE_STOCK_MOVEMENT_RETURN'],
    ['receiving', 'CREATE_STOCK_MOVEMENT_RECEIVING'],
    ['quality_hold', 'CREATE_STOCK_MOVEMENT_QUALITY_HOLD'],
    ['quality_release', 'CREATE_STOCK_MOVEMENT_QUALITY_RELEASE'],
  ]);
});

test('packing lists belong to updates of orders', () => {
  expect(packingListEventTypes).toEqual(['UPDATE_ORDER', 'UPDATE_ORDER_STATUS']);
});

test('a delivery may be attempted while pending or retrying', () => {
  expect(storedStates.filter(isOpen)).toEqual(['pending', 'retrying']);
});
