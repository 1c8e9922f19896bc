/**
 * What a line of an import can do: each operation of the warehouse under a name, its body the one of its own
 * endpoint, its effect the same function.
 * @module
 */
import type * as v from 'valibot';
import { changeOrderIn } from '../../db/orders.ts';
import type { Sql } from '../../db/pool.ts';
import { createMovementIn } from '../../db/stock-movements.ts';
import { moveOrder } from '../../domain/order-changes.ts';
import type { OrderStatus } from '../../domain/order-status.ts';
import { packingListsSchema, packOrder } from '../../domain/packing-lists.ts';
import { newMovement, stockMovementInputSchema } from '../../domain/stock-movement-schema.ts';
import { parseOrThrow } from '../validate.ts';
import { orderStatusBody } from '../warehouse-orders.ts';
import type { Use } from './lanes.ts';

/** What applying a line gave. */
export interface Applied {
  /** As its own endpoint says it. */
  readonly message: string;
  /** The identifier of the record. */
  readonly id?: string | number;
  /** True when the line was applied before and nothing was done. */
  readonly repeated?: boolean;
  /** Whether the relay has something to do. */
  readonly wake: boolean;
}

/** A line, its body checked: what it uses, and how it is applied. */
export interface Prepared {
  readonly uses: readonly Use[];
  apply(tx: Sql, eshopId: number): Promise<Applied>;
}

/** An operation. */
export interface ImportOperation {
  /** For the documentation: the endpoint that does the same. */
  readonly endpoint: string;
  /** True when a line names the record by `id`. */
  readonly named: boolean;
  readonly body: v.GenericSchema;
  /** @throws Problem 400 for a body that is wrong in itself */
  prepare(id: string, body: unknown): Prepared;
}

const alone = (lane: string): Use => ({ lane, shared: false });
const together = (lane: string): Use => ({ lane, shared: true });
/** All products: whoever has it alone may find any of them short, or make it so. */
const stock = 'stock';

/** Moves of an order that leave its reservation as it is. */
const besideStock: ReadonlySet<OrderStatus> = new Set([
  'processing',
  'packed',
  'waitingForCarrier',
  'delivered',
  'lost',
  'returningBack',
  'returnedBack',
  'receivedBack',
]);

const stockMovement: ImportOperation = {
  endpoint: 'POST /v21/warehouse/stock-movements',
  named: false,
  body: stockMovementInputSchema,
  prepare(_id, body) {
    const movement = newMovement(body);
    return {
      uses: [together(stock), alone(`product ${movement.sku}`)],
      async apply(tx, eshopId) {
        const { record, wake } = await createMovementIn(tx, eshopId, movement);
        return { message: 'Stock movement recorded.', id: record.id, wake };
      },
    };
  },
};

const orderStatus: ImportOperation = {
  endpoint: 'PUT /v21/warehouse/orders/{id}/status',
  named: true,
  body: orderStatusBody,
  prepare(id, body) {
    const { status, note } = parseOrThrow(orderStatusBody, body);
    return {
      uses: [alone(`order ${id}`), ...(besideStock.has(status) ? [] : [alone(stock)])],
      async apply(tx, eshopId) {
        const move = await changeOrderIn(tx, eshopId, id, (order) =>
          moveOrder(order, status, note, new Date()),
        );
        return { message: 'Order status changed.', id, wake: move.wake };
      },
    };
  },
};

const orderPackingLists: ImportOperation = {
  endpoint: 'PUT /v21/warehouse/orders/{id}/packing-lists',
  named: true,
  body: packingListsSchema,
  prepare(id, body) {
    const input = parseOrThrow(packingListsSchema, body);
    return {
      uses: [alone(`order ${id}`)],
      async apply(tx, eshopId) {
        const { wake } = await changeOrderIn(tx, eshopId, id, (order) => packOrder(order, input));
        return { message: 'Packing lists replaced.', id, wake };
      },
    };
  },
};

/** Every operation by the name a line gives it. */
export const importOperations = {
  stockMovement,
  orderStatus,
  orderPackingLists,
} as const satisfies Record<string, ImportOperation>;
