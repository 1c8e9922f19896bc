/**
 * Receivings in the database.
 *
 * Until a receiving is stocked or canceled, the units announced by its enabled lines count as `awaiting`. When it is
 * stocked, each enabled line becomes one `receiving` movement: of the units counted, or else announced.
 */
import { arrivedUnits, enabled } from '../../domain/announced-lines.ts';
import { catalogue } from '../../domain/catalogue.ts';
import type { ReceivingRecord } from '../../domain/receiving/schema.ts';
import { negated } from '../../domain/stock/arithmetic.ts';
import { movementOfLine, type NewMovement } from '../../domain/stock/movement.ts';
import { unchanged } from '../../domain/unchanged.ts';
import { type EntityMapping, entityMapping, type SideEffects } from './entity-mapping.ts';
import { stockOf } from './staged-stock.ts';
import { addAwaiting, stageMovements } from './stock.ts';
import { sqlText } from './table-mapping.ts';

const receivingStock: SideEffects<ReceivingRecord> = {
  due: ({ before, after }) => !unchanged(announced(before), announced(after)),
  async stage(work, { before, after }) {
    const [had, has] = [announced(before), announced(after)];
    const changes = [...has, ...had.map(({ sku, delta }) => ({ sku, delta: negated(delta) }))];
    const movements = after.status === 'stocked' ? arrivals(after) : [];
    await stockOf(work).lock([...changes, ...movements].map(({ sku }) => sku));
    await addAwaiting(work, changes);
    await stageMovements(work, movements);
  },
  prepare: async (_work, records) => records.flatMap(({ products }) => products.map(({ sku }) => sku)),
};

export const receivings: EntityMapping<ReceivingRecord> = entityMapping({
  entry: catalogue.receiving,
  table: 'receivings',
  lines: { table: 'receiving_products', field: 'products', of: (receiving) => receiving.products },
  computed: {
    unitsAmount: sqlText`(
      select coalesce(trim_scale(sum(p.quantity)), 0)::text from receiving_products p
      where p.eshop_id = t.eshop_id and p.eshop_receiving_id = t.eshop_receiving_id and p.line_state = 'E')`,
  },
  sideEffects: receivingStock,
});

function announced(receiving: ReceivingRecord | null): { readonly sku: string; readonly delta: string }[] {
  if (receiving === null || receiving.status === 'stocked' || receiving.status === 'canceled') return [];
  return enabled(receiving.products).map(({ sku, quantity }) => ({ sku, delta: quantity }));
}

function arrivals({ products, eshopReceivingId }: ReceivingRecord): NewMovement[] {
  return enabled(products).map((line) =>
    movementOfLine('receiving', line, arrivedUnits(line), eshopReceivingId),
  );
}
