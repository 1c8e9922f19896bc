/** Stock movements in the database: written by `stock.ts`, and never changed. */
import { stockMovementEntry } from '../../domain/catalogue.ts';
import type { NewMovement, StockMovementRecord } from '../../domain/stock/movement.ts';
import type { Transaction } from '../transaction.ts';
import { type Family, familyOf } from './family.ts';
import { sqlText } from './kind.ts';
import { stageMovements } from './stock.ts';
import { type Work, workOf } from './work.ts';

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
export function createMovement(
  tx: Transaction,
  eshopId: number,
  movement: NewMovement,
): Promise<StockMovementRecord> {
  return workOf(tx, eshopId, (work) => stageMovement(work, movement));
}

/** The same as a part of a unit of work, whose writing gives the movement its id. */
export async function stageMovement(work: Work, movement: NewMovement): Promise<StockMovementRecord> {
  const [record] = await stageMovements(work, [movement]);
  if (record === undefined) throw new RangeError('A movement of 0 units cannot be recorded.');
  return record;
}
