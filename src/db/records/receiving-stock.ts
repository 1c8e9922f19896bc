/**
 * What the way of a receiving does to stock.
 *
 * Until it is stocked or canceled, what its enabled lines announce counts as `awaiting`. When it is stocked, each
 * enabled line becomes one `receiving` movement: of the units counted, or of those announced where none were.
 * @module
 */
import { arrivedUnits, enabled } from '../../domain/announced-lines.ts';
import type { ReceivingRecord } from '../../domain/receiving/schema.ts';
import { negated } from '../../domain/stock/arithmetic.ts';
import type { NewMovement } from '../../domain/stock/movement.ts';
import type { Transaction } from '../transaction.ts';
import { addAwaiting, lockStock, moveStock } from './stock.ts';
import { unchanged } from './written.ts';

interface Awaiting {
  readonly sku: string;
  readonly delta: string;
}

function announced(receiving: ReceivingRecord | null): Awaiting[] {
  if (receiving === null || receiving.status === 'stocked' || receiving.status === 'canceled') return [];
  return enabled(receiving.products).map(({ sku, quantity }) => ({ sku, delta: quantity }));
}

function arrivals({ products, eshopReceivingId }: ReceivingRecord): NewMovement[] {
  return enabled(products).map((line) => ({
    type: 'receiving',
    sku: line.sku,
    count: arrivedUnits(line),
    lot: line.lot,
    expirationDate: line.expirationDate,
    reference: eshopReceivingId,
    note: null,
  }));
}

/**
 * Changes stock as the write of a receiving asks for, under the lock of its row.
 * @param before null on creation
 * @throws Problem 409 when a product would have more units than it can
 */
export async function receivingMovesStock(
  tx: Transaction,
  eshopId: number,
  before: ReceivingRecord | null,
  after: ReceivingRecord,
): Promise<void> {
  const [had, has] = [announced(before), announced(after)];
  if (unchanged(had, has)) return;
  const changes = [...has, ...had.map(({ sku, delta }) => ({ sku, delta: negated(delta) }))];
  const movements = after.status === 'stocked' ? arrivals(after) : [];
  await lockStock(
    tx,
    eshopId,
    [...changes, ...movements].map(({ sku }) => sku),
  );
  await addAwaiting(tx, eshopId, changes);
  await moveStock(tx, eshopId, movements);
}
