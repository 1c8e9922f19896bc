/**
 * What can be done to an order: pure functions from the record before to the record after. They refuse with `Problem`;
 * what an order's change costs beside its own row (stock, timers, events) is the database's side.
 * @module
 */
import * as v from 'valibot';
import { identifier, oneOf } from '../fields.ts';
import { itemsOf } from '../list.ts';
import { conflict } from '../problem.ts';
import { assertChangeable, assertMove } from '../status.ts';
import { fieldsOf, isObject, validate, without } from '../validation.ts';
import { billingFields, billsRecipient, withBilling } from './billing.ts';
import { type OrderContext, orderRules } from './rules.ts';
import {
  type OrderProduct,
  type OrderProductInput,
  type OrderRecord,
  orderEntries,
  orderInputSchema,
  orderResponseOnly,
} from './schema.ts';
import { type OrderStatus, orderStatuses, orderTransitions } from './status.ts';

/** From here on the warehouse has the order in hand, and the e-shop may change only a few fields. */
const inHand: ReadonlySet<OrderStatus> = new Set([
  'processing',
  'packed',
  'waitingForCarrier',
  'onTheWay',
  'delivered',
  'lost',
  'returningBack',
  'returnedBack',
  'receivedBack',
  'canceled',
]);

/** What the e-shop may still change from `processing` on. */
export const changeableInHand: readonly string[] = ['note', 'trackingNumbers', 'orderFiles', 'paid'];

/** The schema of an update: the status is the record's and not a request's. */
const updateSchema = v.strictObject({ ...orderEntries, status: oneOf(orderStatuses) });

/** The body without what a record has and a request may carry but not write. */
function writable(body: unknown): unknown {
  const stripped = without(body, orderResponseOnly);
  const lines = isObject(stripped) ? itemsOf(stripped.orderProducts) : [];
  if (!isObject(stripped) || lines.length === 0) return stripped;
  return { ...stripped, orderProducts: lines.map((line) => without(line, ['packingLists'])) };
}

const skuSchema = identifier();

/** The SKUs a body speaks of, to be looked up before its rules are asked. Tolerates any body. */
export function skusIn(body: unknown): string[] {
  const lines = isObject(body) ? itemsOf(body.orderProducts) : [];
  const skus = lines.map((line) => (isObject(line) ? line.sku : undefined));
  return [...new Set(skus.filter((sku) => v.is(skuSchema, sku)))];
}

/** The lines with the packing lists of the lines they take the place of (same SKU and lot, in their order). */
function keepPackingLists(
  lines: readonly OrderProductInput[],
  before: readonly OrderProduct[],
): OrderProduct[] {
  const left = [...before];
  return lines.map((line) => {
    const index = left.findIndex(({ sku, lot }) => sku === line.sku && lot === line.lot);
    const match = index < 0 ? undefined : left.splice(index, 1)[0];
    return { ...line, packingLists: match?.packingLists ?? [] };
  });
}

/**
 * A new order.
 * @param body the request's body as it came
 * @throws Problem 400 naming everything that is wrong
 */
export function newOrder(body: unknown, context: OrderContext): OrderRecord {
  const input = validate(orderInputSchema, orderRules, writable(body), { before: null, context });
  const at = context.now.toISOString();
  const { orderProducts, ...fields } = withBilling(input);
  return {
    ...fields,
    orderProducts: orderProducts.map((line) => ({ ...line, packingLists: [] })),
    createdAt: at,
    updatedAt: at,
    deliveredAt: null,
    canceledAt: null,
    statusHistory: [{ status: input.status, at, note: null }],
  };
}

/** The record as a request could have sent it. */
function inputOf(record: OrderRecord): Record<string, unknown> {
  const { orderProducts, createdAt, updatedAt, deliveredAt, canceledAt, statusHistory, ...fields } = record;
  return { ...fields, orderProducts: orderProducts.map(({ packingLists, ...line }) => line) };
}

function updated(record: OrderRecord, body: unknown, context: OrderContext): OrderRecord {
  const before = inputOf(record);
  const input = validate(updateSchema, orderRules, body, { before, context });
  const { orderProducts, ...fields } = withBilling(input);
  if (inHand.has(record.status)) {
    assertChangeable('order', record.status, changeableInHand, before, { ...fields, orderProducts });
  }
  return { ...record, ...fields, orderProducts: keepPackingLists(orderProducts, record.orderProducts) };
}

/**
 * PUT: every field as sent, what is left out becomes null or its default. `status` is ignored.
 * @throws Problem 400, or 409 when the order is too far on its way for the change
 */
export function replaceOrder(record: OrderRecord, body: unknown, context: OrderContext): OrderRecord {
  const { eshopOrderId, status } = record;
  return updated(record, { eshopOrderId, ...fieldsOf(writable(body)), status }, context);
}

/**
 * PATCH: the fields sent are changed, `orderProducts` and the other lists as a whole. `status` is ignored.
 * @throws Problem 400, or 409 when the order is too far on its way for the change
 */
export function patchOrder(record: OrderRecord, body: unknown, context: OrderContext): OrderRecord {
  const sent = fieldsOf(writable(body));
  // A bill that goes to the recipient follows the recipient, unless the request says where it goes.
  const follows = billsRecipient(record) && !billingFields.some((field) => field in sent);
  const noBilling = Object.fromEntries(billingFields.map((field) => [field, null]));
  return updated(
    record,
    { ...inputOf(record), ...(follows ? noBilling : {}), ...sent, status: record.status },
    context,
  );
}

/**
 * Moves the order to another status.
 * @param note of the warehouse, kept in the history
 * @throws Problem 409 when the table has no such way
 */
export function moveOrder(record: OrderRecord, to: OrderStatus, note: string | null, now: Date): OrderRecord {
  assertMove<OrderStatus>(orderTransitions, 'order', record.status, to);
  const at = now.toISOString();
  return {
    ...record,
    status: to,
    deliveredAt: to === 'delivered' ? at : record.deliveredAt,
    canceledAt: to === 'canceled' ? at : record.canceledAt,
    statusHistory: [...record.statusHistory, { status: to, at, note }],
  };
}

/**
 * Releases a pre-order by hand or by its timer.
 * @throws Problem 409 when it is none
 */
export function releaseOrder(record: OrderRecord, now: Date): OrderRecord {
  if (record.status !== 'preOrder')
    throw conflict(`The order is ${record.status}: only a preOrder can be released.`);
  return moveOrder(record, 'preReceived', null, now);
}
