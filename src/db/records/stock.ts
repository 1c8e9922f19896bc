/**
 * Stock: movements and reservations, always in the caller's transaction.
 *
 * Whoever changes stock locks the products' rows first, all of them at once and in the order of their SKUs: so two
 * writers never sell the same unit, and never deadlock. The lock is `for no key update`: it
 * keeps other writers of stock out, but not the foreign keys of new order lines, which come in any order.
 * @module
 */
import { idOf, stockMovementEntry } from '../../domain/catalogue.ts';
import { compareDecimals, sumDecimals } from '../../domain/decimal.ts';
import { eventOfMovement } from '../../domain/event-types.ts';
import { conflict, invalid } from '../../domain/problem.ts';
import type { Stock } from '../../domain/product/schema.ts';
import {
  changed,
  changeOf,
  negated,
  type StockChange,
  shortOf,
  UNITS_LIMIT,
  unitsBySku,
} from '../../domain/stock/arithmetic.ts';
import type { NewMovement, StockMovementRecord } from '../../domain/stock/movement.ts';
import { databaseTime } from '../clock.ts';
import { recordEvent } from '../outbox/events.ts';
import type { Transaction } from '../transaction.ts';

/** The stock of locked products by SKU. */
export type LockedStock = Map<string, Stock>;

/** Units of one product. */
export interface Units {
  readonly sku: string;
  /** A canonical decimal string above 0. */
  readonly quantity: string;
}

/**
 * Locks products for a change of their stock, until the transaction ends. A transaction that makes several changes
 * locks the SKUs of all of them with one call first.
 * @returns the stock of those that are products of the e-shop
 */
export async function lockStock(
  tx: Transaction,
  eshopId: number,
  skus: Iterable<string>,
): Promise<LockedStock> {
  const wanted = [...new Set(skus)];
  if (wanted.length === 0) return new Map();
  const rows = await tx<(Stock & { sku: string })[]>`
    select sku, available, reserved, on_hold, awaiting from products
    where eshop_id = ${eshopId} and sku = any(${wanted}::text[])
    order by sku for no key update`;
  return new Map(rows.map(({ sku, ...stock }) => [sku, stock]));
}

/**
 * Writes movements in their order, changes the stock they speak of and fires CREATE_STOCK_MOVEMENT_<TYPE> for each.
 * A movement of 0 units moves nothing: it is left out.
 * @throws Problem 400 for a SKU that is no product, 409 when a product has too few units (naming all of them)
 */
export async function moveStock(
  tx: Transaction,
  eshopId: number,
  movements: readonly NewMovement[],
): Promise<StockMovementRecord[]> {
  const stock = await lockStock(
    tx,
    eshopId,
    movements.map(({ sku }) => sku),
  );
  return writeMovements(tx, eshopId, stock, movements, 'available');
}

/** @param from where the movements take their units from */
async function writeMovements(
  tx: Transaction,
  eshopId: number,
  stock: LockedStock,
  movements: readonly NewMovement[],
  from: 'available' | 'reserved',
): Promise<StockMovementRecord[]> {
  const short: Shortages = new Map();
  const moved: Omit<StockMovementRecord, 'id' | 'createdAt'>[] = [];
  for (const { type, sku, count, lot, expirationDate, reference, note } of movements) {
    if (count === '0') continue;
    const { available: balance } = change(stock, short, sku, changeOf(type, count, from));
    moved.push({ type, sku, count, lot, expirationDate, reference, note, balance });
  }
  refuse('The stock cannot be moved', short);
  if (moved.length === 0) return [];
  // Read under the lock, so that the times of a product's movements rise with their ids.
  const [now] = await Promise.all([databaseTime(tx), writeStock(tx, eshopId, stock)]);
  const made = moved.map((movement) => ({ ...movement, createdAt: now.toISOString() }));
  const ids = await tx<{ id: string }[]>`
    insert into stock_movements ${tx(made.map((movement) => ({ eshopId, ...movement })))} returning id`;
  const records = made.map((movement, index) => ({ id: Number(ids[index]?.id), ...movement }));
  // Sent together: inside a transaction they follow each other without waiting for the answers in between.
  await Promise.all(
    records.map((record) =>
      recordEvent(tx, {
        eshopId,
        type: eventOfMovement(record.type),
        entityId: idOf(stockMovementEntry, record),
        record,
      }),
    ),
  );
  return records;
}

/**
 * Makes the reservation of an order what it must be: reserves, frees, or both.
 * @param lines what the order needs reserved, several lines of a SKU allowed; empty to free everything
 * @throws Problem 409 when there is too little, naming every SKU
 */
export async function reserveStock(
  tx: Transaction,
  eshopId: number,
  eshopOrderId: string,
  lines: readonly Units[],
): Promise<void> {
  const wanted = unitsBySku(lines);
  const rows = await tx<{ sku: string; count: string }[]>`
    select sku, count from stock_reservations
    where eshop_id = ${eshopId} and eshop_order_id = ${eshopOrderId}`;
  const had = new Map(rows.map(({ sku, count }) => [sku, count]));
  const more = new Map<string, string>();
  for (const sku of [...had.keys(), ...wanted.keys()]) {
    const units = sumDecimals([wanted.get(sku) ?? '0', negated(had.get(sku) ?? '0')]);
    if (units !== '0') more.set(sku, units);
  }
  if (more.size === 0) return;
  const stock = await lockStock(tx, eshopId, more.keys());
  const short: Shortages = new Map();
  for (const [sku, units] of more) change(stock, short, sku, { available: negated(units), reserved: units });
  refuse(`The order ${eshopOrderId} cannot be reserved`, short);
  await writeStock(tx, eshopId, stock);
  await tx`delete from stock_reservations where eshop_id = ${eshopId} and eshop_order_id = ${eshopOrderId}`;
  if (wanted.size === 0) return;
  const reserved = [...wanted].map(([sku, count]) => ({ eshopId, eshopOrderId, sku, count }));
  await tx`insert into stock_reservations ${tx(reserved)}`;
}

/**
 * Takes the reserved units of an order out of the stock: one `order` movement per line. The reservation ends.
 * @throws Problem 409 when the order had less reserved and there is too little, naming every SKU
 */
export async function consumeStock(
  tx: Transaction,
  eshopId: number,
  eshopOrderId: string,
  lines: readonly (Units & { readonly lot: string | null })[],
): Promise<void> {
  const skus = lines.map(({ sku }) => sku);
  await lockStock(tx, eshopId, skus);
  // Nothing to do but for an order that came this far before reservations were kept.
  await reserveStock(tx, eshopId, eshopOrderId, lines);
  const movements = lines.map(({ sku, quantity, lot }) => ({
    type: 'order' as const,
    sku,
    count: negated(quantity),
    lot,
    expirationDate: null,
    reference: eshopOrderId,
    note: null,
  }));
  await writeMovements(tx, eshopId, await lockStock(tx, eshopId, skus), movements, 'reserved');
  await tx`delete from stock_reservations where eshop_id = ${eshopId} and eshop_order_id = ${eshopOrderId}`;
}

/**
 * Adds to the units that open receivings have announced.
 * @param changes signed decimal strings; a SKU may come several times
 * @throws Problem 400 for a SKU that is no product, 409 for more units than a product can have
 * @throws RangeError when more would be taken back than was announced
 */
export async function addAwaiting(
  tx: Transaction,
  eshopId: number,
  changes: readonly { readonly sku: string; readonly delta: string }[],
): Promise<void> {
  const sums = unitsBySku(changes.map(({ sku, delta }) => ({ sku, quantity: delta })));
  const stock = await lockStock(tx, eshopId, sums.keys());
  const short: Shortages = new Map();
  for (const [sku, awaiting] of sums) {
    const after = change(stock, short, sku, { awaiting });
    if (compareDecimals(after.awaiting, '0') < 0)
      throw new RangeError(`${negated(awaiting)} units of ${sku} were never announced.`);
  }
  refuse('The units cannot be announced', short);
  await writeStock(tx, eshopId, stock);
}

/** What SKUs have too little or too much of, with the stock they had. */
type Shortages = Map<string, { readonly what: NonNullable<ReturnType<typeof shortOf>>; readonly had: Stock }>;

/**
 * Changes the stock of a locked product in memory, noting what is wrong with the result.
 * @throws Problem 400 when it is no product of the e-shop
 */
function change(stock: LockedStock, short: Shortages, sku: string, by: StockChange): Stock {
  const had = stock.get(sku);
  if (had === undefined) throw invalid([{ path: 'sku', message: `"${sku}" is not a known product` }]);
  const after = changed(had, by);
  const what = shortOf(after);
  if (what !== null && !short.has(sku)) short.set(sku, { what, had });
  stock.set(sku, after);
  return after;
}

/** @throws Problem 409 that names every SKU, when there is any */
function refuse(sentence: string, short: Shortages): void {
  if (short.size === 0) return;
  const clauses = [...short].map(([sku, { what, had }]) => {
    if (what === 'tooMuch') return `${sku} would reach ${UNITS_LIMIT} units`;
    return `${sku} has only ${had[what]} ${what === 'onHold' ? 'on hold' : 'available'}`;
  });
  throw conflict(`${sentence}: ${clauses.join(', ')}.`);
}

/** Writes the stock of locked products; the sums were made in TypeScript, so that they stay canonical. */
async function writeStock(tx: Transaction, eshopId: number, stock: LockedStock): Promise<void> {
  if (stock.size === 0) return;
  const all = [...stock.values()];
  await tx`
    update products set
      available = changed.available::numeric, reserved = changed.reserved::numeric,
      on_hold = changed.on_hold::numeric, awaiting = changed.awaiting::numeric
    from unnest(
      ${[...stock.keys()]}::text[],
      ${all.map(({ available }) => available)}::text[], ${all.map(({ reserved }) => reserved)}::text[],
      ${all.map(({ onHold }) => onHold)}::text[], ${all.map(({ awaiting }) => awaiting)}::text[]
    ) as changed (sku, available, reserved, on_hold, awaiting)
    where products.eshop_id = ${eshopId} and products.sku = changed.sku`;
}
