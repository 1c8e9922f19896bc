/** Stock movements in the database: written by `stock.ts`, and never changed. */
import { catalogue } from '../../domain/catalogue.ts';
import type { Origin } from '../../domain/origin.ts';
import type { NewMovement, StockMovementRecord } from '../../domain/stock/movement.ts';
import type { Transaction } from '../transaction.ts';
import { type EntityMapping, entityMapping } from './entity-mapping.ts';
import { stageMovements } from './stock.ts';
import { sqlText } from './table-mapping.ts';
import { inUnitOfWork, type UnitOfWork } from './unit-of-work.ts';

export const stockMovements: EntityMapping<StockMovementRecord> = entityMapping({
  entry: catalogue.stockMovement,
  table: 'stock_movements',
  computed: { id: sqlText`t.id::float8` },
});

/** Records a movement; fires CREATE_STOCK_MOVEMENT_<TYPE>. @throws Problem 400 for an unknown SKU, 409 for too few */
export function createMovement(tx: Transaction, eshopId: number, origin: Origin, movement: NewMovement) {
  return inUnitOfWork(tx, eshopId, origin, (work) => stageMovement(work, movement));
}

/** The same within a unit of work; the movement gets its id when that is written. */
export async function stageMovement(work: UnitOfWork, movement: NewMovement): Promise<StockMovementRecord> {
  const [record] = await stageMovements(work, [movement]);
  if (record === undefined) throw new RangeError('A movement of 0 units cannot be recorded.');
  return record;
}
