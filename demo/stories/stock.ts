/** Stock between arrival and shipping: it is counted, checked and assembled. */
import { eventOfMovement, type StockMovementType } from '../../src/domain/event-types.ts';
import { goods, kit } from '../goods.ts';
import { type Call, type Story, warehouse } from '../steps.ts';
import { type Day, idOf } from './context.ts';

function movement(type: StockMovementType, sku: string, count: number, note: string): Call {
  return warehouse('POST', '/stock-movements', { type, sku, count, note }, eventOfMovement(type));
}

/** A shelf is counted: a unit is missing, or there is one more. */
export function corrections(day: Day): Story[] {
  return day.random
    .some(goods, 3)
    .map(({ code }) => [
      day.random.integer(0, 2) === 0
        ? movement('stock_correction', idOf(day, code), 1, 'found behind the shelf')
        : movement('stock_correction', idOf(day, code), -1, 'broken in the aisle'),
    ]);
}

/** Units are put aside and inspected; most of them go back on the shelf. */
export function qualityChecks(day: Day): Story[] {
  return day.random.some(goods, 3).map(({ code }) => {
    const sku = idOf(day, code);
    const held = day.random.integer(2, 4);
    return [
      movement('quality_hold', sku, held, 'dented boxes'),
      movement('quality_release', sku, day.random.integer(1, held), 'good enough for a gift'),
    ];
  });
}

/** Kits are assembled: stock of the parts falls, stock of the kit rises. */
export function kitting(day: Day): Story[] {
  const made = day.random.integer(3, 6);
  return [
    [
      ...kit.parts.map((code) => movement('completition', idOf(day, code), -made, `into ${kit.name}`)),
      movement('completition', idOf(day, kit.code), made, 'put together'),
    ],
  ];
}
