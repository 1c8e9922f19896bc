/**
 * What the way of a return does to stock: completed, each enabled line that goes back into the inventory (or of which
 * nothing was decided) becomes one `return` movement, of the units counted, or of those announced where none were.
 * @module
 */
import { arrivedUnits, enabled } from '../../domain/announced-lines.ts';
import type { ReturnRecord } from '../../domain/return/schema.ts';
import type { NewMovement } from '../../domain/stock/movement.ts';
import type { Transaction } from '../transaction.ts';
import { moveStock } from './stock.ts';

function comingBack({ returnedOrderProducts, eshopReturnId }: ReturnRecord): NewMovement[] {
  return enabled(returnedOrderProducts)
    .filter(({ resolution }) => resolution === null || resolution === 'returnToInventory')
    .map((line) => ({
      type: 'return',
      sku: line.sku,
      count: arrivedUnits(line),
      lot: line.lot,
      expirationDate: null,
      reference: eshopReturnId,
      note: null,
    }));
}

/**
 * Changes stock as the write of a return asks for, under the lock of its row.
 * @param before null on creation
 * @throws Problem 409 when a product would have more units than it can
 */
export async function returnMovesStock(
  tx: Transaction,
  eshopId: number,
  before: ReturnRecord | null,
  after: ReturnRecord,
): Promise<void> {
  if (after.status !== 'completed' || before?.status === 'completed') return;
  await moveStock(tx, eshopId, comingBack(after));
}
