/** Stock: movements and reservations, as parts of a unit of work. */
import { sumDecimals } from '../../domain/decimal.ts';
import { conflict, invalid } from '../../domain/problem.ts';
import type { Stock } from '../../domain/product/schema.ts';
import {
  applyChange,
  changeOf,
  negated,
  type StockChange,
  shortage,
  UNITS_LIMIT,
  unitsBySku,
} from '../../domain/stock/arithmetic.ts';
import { movementOfLine, type NewMovement, type StockMovementRecord } from '../../domain/stock/movement.ts';
import { type StagedStock, stockOf } from './staged-stock.ts';
import type { UnitOfWork } from './unit-of-work.ts';

export interface Units {
  readonly sku: string;
  /** A canonical decimal string above 0. */
  readonly quantity: string;
}

/**
 * Stages movements in order, changes the stock and fires CREATE_STOCK_MOVEMENT_<TYPE> for each. A movement of 0 units
 * is left out.
 * @param from where the units come from
 * @throws Problem 400 for a SKU that is no product, 409 if products have too few units, naming all of them
 */
export async function stageMovements(
  work: UnitOfWork,
  movements: readonly NewMovement[],
  from: 'available' | 'reserved' = 'available',
): Promise<StockMovementRecord[]> {
  const stock = stockOf(work);
  await stock.lock(movements.map(({ sku }) => sku));
  const short: Shortages = new Map();
  const moved = movements
    .filter(({ count }) => count !== '0')
    .map(({ type, sku, count, lot, expirationDate, reference, note }) => {
      const { available: balance } = change(stock, short, sku, changeOf(type, count, from));
      return { type, sku, count, lot, expirationDate, reference, note, balance };
    });
  refuse('The stock cannot be moved', short);
  return moved.map((movement) => stock.move(movement));
}

/**
 * Adjusts the reservation of an order: reserves, frees, or both.
 * @param lines the units that the order needs reserved, several lines of a SKU allowed; empty to free everything
 * @throws Problem 409 if there is too little, naming every SKU
 */
export async function reserveStock(work: UnitOfWork, eshopOrderId: string, lines: readonly Units[]) {
  const needed = unitsBySku(lines);
  const stock = stockOf(work);
  await stock.readReservations([eshopOrderId]);
  const had = stock.reserved(eshopOrderId);
  const more = new Map<string, string>();
  for (const sku of [...had.keys(), ...needed.keys()]) {
    const units = sumDecimals([needed.get(sku) ?? '0', negated(had.get(sku) ?? '0')]);
    if (units !== '0') more.set(sku, units);
  }
  if (more.size === 0) return;
  await stock.lock(more.keys());
  const short: Shortages = new Map();
  for (const [sku, units] of more) change(stock, short, sku, { available: negated(units), reserved: units });
  refuse(`The order ${eshopOrderId} cannot be reserved`, short);
  stock.setReserved(eshopOrderId, needed);
}

/**
 * Takes the reserved units of an order out of the stock: one `order` movement per line. The reservation ends.
 * @throws Problem 409 if the order had less reserved and there is too little, naming every SKU
 */
export async function consumeStock(
  work: UnitOfWork,
  eshopOrderId: string,
  lines: readonly (Units & { readonly lot: string | null })[],
): Promise<void> {
  const stock = stockOf(work);
  await stock.lock(lines.map(({ sku }) => sku));
  await reserveStock(work, eshopOrderId, lines);
  const movements = lines.map((line) => movementOfLine('order', line, negated(line.quantity), eshopOrderId));
  await stageMovements(work, movements, 'reserved');
  stock.setReserved(eshopOrderId, new Map());
}

/**
 * Adds to the units that open receivings have announced.
 * @param changes signed decimal strings; a SKU may occur several times
 * @throws Problem 400 for a SKU that is no product, 409 for more units than a product can have
 */
export async function addAwaiting(
  work: UnitOfWork,
  changes: readonly { readonly sku: string; readonly delta: string }[],
): Promise<void> {
  const sums = unitsBySku(changes.map(({ sku, delta }) => ({ sku, quantity: delta })));
  const stock = stockOf(work);
  await stock.lock(sums.keys());
  const short: Shortages = new Map();
  for (const [sku, awaiting] of sums) change(stock, short, sku, { awaiting });
  refuse('The units cannot be announced', short);
}

/** The SKUs with too little or too much of a stock value, and the stock they had. */
type Shortages = Map<
  string,
  { readonly what: NonNullable<ReturnType<typeof shortage>>; readonly had: Stock }
>;

/** Changes the stock of a locked product in memory, noting shortages. @throws Problem 400 for an unknown SKU */
function change(stock: StagedStock, short: Shortages, sku: string, by: StockChange): Stock {
  const had = stock.get(sku);
  if (had === undefined) throw invalid([{ path: 'sku', message: `"${sku}" is not a known product` }]);
  const after = applyChange(had, by);
  const what = shortage(after);
  if (what !== null && !short.has(sku)) short.set(sku, { what, had });
  stock.set(sku, after);
  return after;
}

/** @throws Problem 409 that names every SKU, if there is any */
function refuse(message: string, short: Shortages): void {
  if (short.size === 0) return;
  const clauses = [...short].map(([sku, { what, had }]) => {
    if (what === 'tooMuch') return `${sku} would reach ${UNITS_LIMIT} units`;
    return `${sku} has only ${had[what]} ${what === 'onHold' ? 'on hold' : 'available'}`;
  });
  throw conflict(`${message}: ${clauses.join(', ')}.`);
}
