import { catalogue } from '../../domain/catalogue.ts';
import type { OrderRecord } from '../../domain/order/schema.ts';
import { enqueueReleaseChange } from '../outbox/changes.ts';
import { type EntityMapping, entityMapping, type Written } from './entity-mapping.ts';
import { orderStock } from './order-stock.ts';
import { StagedList } from './staged.ts';
import { participantOf } from './unit-of-work.ts';

/** Orders, changed by anyone but their release timer. */
export const orders: EntityMapping<OrderRecord> = entityMapping({
  entry: catalogue.order,
  table: 'orders',
  lines: { table: 'order_products', field: 'orderProducts', of: (order) => order.orderProducts },
  sideEffects: {
    ...orderStock,
    due: (written) => orderStock.due(written) || movesTimer(written),
    async stage(work, written) {
      if (orderStock.due(written)) await orderStock.stage(work, written);
      if (movesTimer(written)) timersOf(work).moved.push(written.after);
    },
  },
});

/** Orders, changed by their release timer, which needs no notice of its own changes. */
export const ordersByTimer: EntityMapping<OrderRecord> = { ...orders, sideEffects: orderStock };

/** When the timer of a pre-order ends; null if it needs none. */
const dueTime = (order: OrderRecord | null) => (order?.status === 'preOrder' ? order.releaseAt : null);

const movesTimer = ({ before, after }: Written<OrderRecord>) => dueTime(before) !== dueTime(after);

/** The orders whose timers must be set, moved or ended. */
const timersOf = participantOf(({ tx, eshopId }) => {
  const moved = new StagedList<OrderRecord>();
  return {
    moved,
    staged: [moved],
    write: () =>
      Promise.all(
        moved.committed.map((order) => enqueueReleaseChange(tx, eshopId, order.eshopOrderId, dueTime(order))),
      ),
  };
});
