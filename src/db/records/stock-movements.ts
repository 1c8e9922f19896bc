/**
 * Stock movements in the database: written by `stock.ts`, and never changed.
 * @module
 */
import { stockMovementEntry } from '../../domain/catalogue.ts';
import type { NewMovement, StockMovementRecord } from '../../domain/stock/movement.ts';
import type { Transaction } from '../transaction.ts';
import { type Family, familyOf } from './family.ts';
import { sqlText } from './kind.ts';
import { moveStock } from './stock.ts';

/** Stock movements, to be read. */
export const stockMovements: Family<StockMovementRecord> = familyOf({
  entry: stockMovementEntry,
  table: 'stock_movements',
  computed: { id: sqlText`t.id::float8` },
});

/**
 * Records a movement; fires CREATE_STOCK_MOVEMENT_<TYPE>.
 * @throws Problem 400 for a SKU that is no product, 409 when there are too few units
 */
export async function createMovement(
  tx: Transaction,
  eshopId: number,
  movement: NewMovement,
): Promise<StockMovementRecord> {
  const [record] = await moveStock(tx, eshopId, [movement]);
  if (record === undefined) throw new RangeError('A movement of 0 units cannot be recorded.');
  return record;
}
