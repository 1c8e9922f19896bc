/**
 * Orders between their rows and their record.
 * @module
 */
import {
  type OrderProduct,
  type OrderRecord,
  orderEntries,
  orderResponseOnly,
} from '../../domain/order/schema.ts';
import { written } from '../../domain/timestamp.ts';
import { json } from '../json.ts';
import type { Sql } from '../pool.ts';

/** The columns of `orders` in the record's order; the lines stand in a table of their own. */
export const orderColumns = [...Object.keys(orderEntries), ...orderResponseOnly].filter(
  (name) => name !== 'orderProducts',
);

type Times =
  | 'releaseAt'
  | 'requiredExpeditionDate'
  | 'createdAt'
  | 'updatedAt'
  | 'deliveredAt'
  | 'canceledAt';

/** A row of `orders`. */
export interface OrderRow extends Omit<OrderRecord, 'orderProducts' | Times> {
  releaseAt: Date | null;
  requiredExpeditionDate: Date | null;
  createdAt: Date;
  updatedAt: Date;
  deliveredAt: Date | null;
  canceledAt: Date | null;
}

/** The record of a row and its lines, in the order of the lines. */
export function toOrderRecord(row: OrderRow, lines: readonly OrderProduct[]): OrderRecord {
  const { createdAt, updatedAt, deliveredAt, canceledAt, statusHistory, ...fields } = row;
  return {
    ...fields,
    releaseAt: written(row.releaseAt),
    requiredExpeditionDate: written(row.requiredExpeditionDate),
    orderProducts: [...lines],
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
    deliveredAt: written(deliveredAt),
    canceledAt: written(canceledAt),
    statusHistory,
  };
}

/** The values of a row of `orders`. */
export function toOrderRow(sql: Sql, record: OrderRecord) {
  const { orderProducts: _, orderFiles, statusHistory, ...values } = record;
  return { ...values, orderFiles: json(sql, orderFiles), statusHistory: json(sql, statusHistory) };
}

/** The values of the rows of `order_products`. */
export function toLineRows(sql: Sql, eshopId: number, record: OrderRecord) {
  return record.orderProducts.map(({ packingLists, ...line }, position) => ({
    eshopId,
    eshopOrderId: record.eshopOrderId,
    position,
    ...line,
    packingLists: json(sql, packingLists),
  }));
}
