/**
 * What a line of an import can do: each operation of the warehouse under a name, its body the one of its own
 * endpoint, its effect the same function.
 * @module
 */
import type * as v from 'valibot';
import { changeOrderIn } from '../../db/records/orders.ts';
import { changeReceivingIn } from '../../db/records/receivings.ts';
import { changeReturnIn } from '../../db/records/returns.ts';
import { createMovementIn } from '../../db/records/stock-movements.ts';
import type { Transaction } from '../../db/transaction.ts';
import { moveOrder } from '../../domain/order/changes.ts';
import { packingListsSchema, packOrder } from '../../domain/order/packing-lists.ts';
import type { OrderStatus } from '../../domain/order/status.ts';
import { newMovement, stockMovementInputSchema } from '../../domain/stock/movement.ts';
import { receivingLines, receivingStatus } from '../receivings.ts';
import { returnLines, returnStatus } from '../returns.ts';
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
}

/** A line, its body checked: what it uses, and how it is applied. */
export interface Prepared {
  readonly uses: readonly Use[];
  apply(tx: Transaction, eshopId: number): Promise<Applied>;
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
        const { id } = await createMovementIn(tx, eshopId, movement);
        return { message: 'Stock movement recorded.', id };
      },
    };
  },
};

/** A pure change of a record, with the body of its endpoint. */
interface Change<Rec, Body extends v.GenericSchema> {
  readonly endpoint: string;
  readonly body: Body;
  readonly message: string;
  /** True when it may find any product short, or make it so. */
  movesStock(input: v.InferOutput<Body>): boolean;
  change(record: Rec, input: v.InferOutput<Body>, now: Date): Rec;
}

/**
 * Makes the operations of one kind of record.
 * @param changeIn changes one in the caller's transaction
 */
function operationsOn<Rec>(
  kind: string,
  changeIn: (
    tx: Transaction,
    eshopId: number,
    id: string,
    change: (before: Rec, now: Date) => Rec,
  ) => Promise<Rec>,
) {
  return <Body extends v.GenericSchema>(of: Change<Rec, Body>): ImportOperation => ({
    endpoint: of.endpoint,
    named: true,
    body: of.body,
    prepare(id, body) {
      const input = parseOrThrow(of.body, body);
      return {
        uses: [alone(`${kind} ${id}`), ...(of.movesStock(input) ? [alone(stock)] : [])],
        async apply(tx, eshopId) {
          await changeIn(tx, eshopId, id, (record, now) => of.change(record, input, now));
          return { message: of.message, id };
        },
      };
    },
  });
}

const onOrder = operationsOn('order', changeOrderIn);
const onReceiving = operationsOn('receiving', changeReceivingIn);
const onReturn = operationsOn('return', changeReturnIn);

/** Every operation by the name a line gives it. */
export const importOperations = {
  stockMovement,
  orderStatus: onOrder({
    endpoint: 'PUT /v21/warehouse/orders/{id}/status',
    body: orderStatusBody,
    message: 'Order status changed.',
    movesStock: ({ status }) => !besideStock.has(status),
    change: (order, { status, note }, now) => moveOrder(order, status, note, now),
  }),
  orderPackingLists: onOrder({
    endpoint: 'PUT /v21/warehouse/orders/{id}/packing-lists',
    body: packingListsSchema,
    message: 'Packing lists replaced.',
    movesStock: () => false,
    change: packOrder,
  }),
  receivingStatus: onReceiving({
    ...receivingStatus,
    endpoint: 'PUT /v21/warehouse/receivings/{id}/status',
    movesStock: ({ status }) => status === 'stocked',
  }),
  receivingLines: onReceiving({
    ...receivingLines,
    endpoint: 'PUT /v21/warehouse/receivings/{id}/lines',
    movesStock: () => false,
  }),
  returnStatus: onReturn({
    ...returnStatus,
    endpoint: 'PUT /v21/warehouse/returns/{id}/status',
    movesStock: ({ status }) => status === 'completed',
  }),
  returnLines: onReturn({
    ...returnLines,
    endpoint: 'PUT /v21/warehouse/returns/{id}/lines',
    movesStock: () => false,
  }),
} as const satisfies Record<string, ImportOperation>;
