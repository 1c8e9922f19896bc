/**
 * What a change of an order costs beside its own row, in the same transaction. The one place where such effects hang:
 * the release timer here, stock in `order-stock.ts`.
 * @module
 */
import type { OrderRecord } from '../../domain/order/schema.ts';
import { enqueueReleaseChange } from '../outbox/changes.ts';
import type { Transaction } from '../transaction.ts';
import { orderMovesStock } from './order-stock.ts';

/** A write of an order. */
export interface OrderChange {
  readonly eshopId: number;
  /** Null on creation. */
  readonly before: OrderRecord | null;
  readonly after: OrderRecord;
  /** True where the release timer itself made the change. */
  readonly byTimer: boolean;
}

/**
 * Writes what follows.
 * @throws Problem 409 when an effect is impossible; the whole write is undone then
 */
export async function applyOrderEffects(tx: Transaction, change: OrderChange): Promise<void> {
  const { eshopId, before, after, byTimer } = change;
  await orderMovesStock(tx, eshopId, before, after);
  if (!byTimer && concernsTimer(change)) await enqueueReleaseChange(tx, eshopId, after.eshopOrderId);
}

/** True when a pre-order's timer must be set, moved or ended. A pre-order without a time has none. */
function concernsTimer({ before, after }: OrderChange): boolean {
  const due = (order: OrderRecord | null) => (order?.status === 'preOrder' ? order.releaseAt : null);
  return due(before) !== due(after);
}
