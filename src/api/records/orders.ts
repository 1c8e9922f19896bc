/** Orders: `/orders`, key `eshopOrderId`, and the warehouse's operations on them. */
import * as v from 'valibot';
import { orders } from '../../db/records/orders.ts';
import { described, oneOf, optional, strictComponent, text } from '../../domain/fields.ts';
import { changeableWhileFulfilled, moveOrder, orderEdits, releaseOrder } from '../../domain/order/changes.ts';
import { packingListsSchema, packOrder } from '../../domain/order/packing-lists.ts';
import { orderRecordSchema } from '../../domain/order/record.ts';
import { documentedEntries, type OrderRecord } from '../../domain/order/schema.ts';
import { type OrderStatus, orderStatuses, orderTransitions } from '../../domain/order/status.ts';
import { transitionList } from '../describe.ts';
import { type Operation, operation } from './operation.ts';
import { timeFilter } from './reads.ts';
import type { Resource } from './resource.ts';

const rules = `
- \`transferCompany\` is required for \`transfer\` orders; \`sanction\` and \`requiredExpeditionDate\` are allowed only for \`b2b\`.
- \`releaseAt\` is allowed only for a \`preOrder\`, and must be in the future.
- \`shipper\` and \`shipperService\` must be a pair from \`GET /v2/shipper-service-codes\`; \`pickupPoint\` is required for services that deliver to pickup points, and not allowed otherwise.
- \`paymentType\` 0 (cash on delivery) requires a service that offers it, and a \`cashOnDelivery\` greater than 0 unless the order is \`paid\`.
- \`disableShippingReorder\` requires a \`marketplace\` and a file of type \`shippingAddonLabel\`; \`invoicePrint\` requires a file of type \`invoice\`.
- \`marketplace\` must be one of the values that the warehouse supports; the error for any other value lists them.
- Every \`sku\` must be a product of the e-shop.
- The billing fields may be left out altogether; they then equal those of the recipient.`;

const lateChanges = ` From \`processing\` on, only ${changeableWhileFulfilled.map((field) => `\`${field}\``).join(', ')} can be changed; anything else returns 409. \`status\` and the response-only fields are ignored.`;

const stock = `From \`received\` until it leaves, an order has the units of its lines reserved: the transition to \`received\` returns a 409 that names every SKU that is short (then set \`productsNotAvailable\`). \`canceled\`, \`suspended\` and \`productsNotAvailable\` release them; \`onTheWay\` takes them out of the stock, one \`order\` movement per line.`;

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

export const orderOperations: readonly Operation<OrderRecord>[] = [
  operation({
    name: 'status',
    summary: 'Change the status of an order',
    description: `Fires UPDATE_ORDER_STATUS. Any other transition, including to the current status, returns 409.\n\n${transitionList(orderTransitions)}\n\n${stock}`,
    conflict: 'this transition is not allowed, or there is not enough stock.',
    message: 'Order status changed.',
    body: strictComponent('OrderStatusInput', {
      status: oneOf(orderStatuses),
      note: described(optional(text(4000)), "Kept in the order's `statusHistory`."),
    }),
    movesStock: ({ status }) => !besideStock.has(status),
    change: (order: OrderRecord, { status, note }, now) => moveOrder(order, status, note, now),
  }),
  operation({
    name: 'packing-lists',
    summary: 'Replace the packing lists of an order',
    description: 'Fires UPDATE_ORDER, unless nothing changed. Returns the order with its packing lists.',
    message: 'Packing lists replaced.',
    withPackingLists: true,
    body: packingListsSchema,
    change: packOrder,
  }),
];

/** @param marketplaces the known ones, for the documentation */
export function orderResource(marketplaces: readonly string[]): Resource<OrderRecord> {
  const entries = documentedEntries(marketplaces);
  return {
    mapping: orders,
    listed: ', without packing lists.',
    filter: { status: v.optional(oneOf(orderStatuses)), ...timeFilter },
    packingLists:
      '`withPackingLists=true` adds `orderProducts[].packingLists`: which units are in which package, with SSCC codes and serial numbers.',
    creates: 'Create',
    late: lateChanges,
    tooLate: 'it is too late to change these fields.',
    rules,
    inputSchema: v.strictObject(entries),
    recordSchema: (version) => orderRecordSchema(version, entries),
    ...orderEdits,
    actions: [
      {
        name: 'release',
        summary: 'Release a pre-order now',
        description: 'Does not wait for `releaseAt`. Fires UPDATE_ORDER_STATUS.',
        conflict: 'the order is not a preOrder.',
        message: 'Order released.',
        change: releaseOrder,
      },
      {
        name: 'cancel',
        summary: 'Cancel an order',
        description:
          'Possible until the order is `waitingForCarrier`. Frees the units that it had reserved. Fires UPDATE_ORDER_STATUS.',
        conflict: 'the order can no longer be canceled.',
        message: 'Order canceled.',
        change: (order, now) => moveOrder(order, 'canceled', null, now),
      },
    ],
    operations: orderOperations,
  };
}
