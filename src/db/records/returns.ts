/**
 * Returns. On completion each enabled line that goes back into the inventory (or is undecided) becomes one `return`
 * movement: of the units counted, or of those announced if none were.
 */
import { arrivedUnits, enabled } from '../../domain/announced-lines.ts';
import { catalogue } from '../../domain/catalogue.ts';
import type { ReturnRecord } from '../../domain/return/schema.ts';
import { movementOfLine, type NewMovement } from '../../domain/stock/movement.ts';
import { type EntityMapping, entityMapping } from './entity-mapping.ts';
import { stageMovements } from './stock.ts';

export const returns: EntityMapping<ReturnRecord> = entityMapping({
  entry: catalogue.return,
  table: 'returns',
  lines: {
    table: 'returned_order_products',
    field: 'returnedOrderProducts',
    of: ({ returnedOrderProducts }) => returnedOrderProducts,
  },
  sideEffects: {
    due: ({ before, after }) => after.status === 'completed' && before?.status !== 'completed',
    async stage(work, { after }) {
      await stageMovements(work, restocked(after));
    },
    prepare: async (_work, records) =>
      records.flatMap(({ returnedOrderProducts }) => returnedOrderProducts.map(({ sku }) => sku)),
  },
});

function restocked({ returnedOrderProducts, eshopReturnId }: ReturnRecord): NewMovement[] {
  return enabled(returnedOrderProducts)
    .filter(({ resolution }) => resolution === null || resolution === 'returnToInventory')
    .map((line) => movementOfLine('return', line, arrivedUnits(line), eshopReturnId));
}
