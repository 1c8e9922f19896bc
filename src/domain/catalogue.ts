/**
 * The catalogue of entities: one entry per kind of record. Together with `event-types.ts` it is what the read
 * endpoints, the documentation, the sample deliveries and the tests' tables are derived from. A new kind of record
 * is one entry here.
 * @module
 */
import type * as v from 'valibot';
import type { PayloadVersion } from './decimal.ts';
import { type EntityKind, type EventType, eventTypes } from './event-types.ts';
import { orderRecordSchema, sampleOrder } from './order-record.ts';
import { orderResponseOnly } from './order-schema.ts';
import { productRecordSchema, productResponseOnly, sampleProduct } from './product-schema.ts';
import { receivingRecordSchema, receivingResponseOnly, sampleReceiving } from './receiving-schema.ts';
import { returnRecordSchema, returnResponseOnly, sampleReturn } from './return-schema.ts';
import {
  sampleMovementOf,
  sampleStockMovement,
  stockMovementEvents,
  stockMovementRecordSchema,
  stockMovementResponseOnly,
  stockMovementTypes,
} from './stock-movement-schema.ts';

/** What is to be known of a kind of record. */
export interface CatalogueEntry {
  readonly kind: EntityKind;
  /** Its name in sentences, with a small letter. */
  readonly noun: string;
  /** Its resource below `/v21` and `/v2`. */
  readonly path: string;
  /** The field that identifies it; its value is what GET webhooks get. */
  readonly idField: string;
  /** Fields of the record that requests may not write; a change of them alone fires nothing. */
  readonly responseOnly: readonly string[];
  /** The record's schema in a payload of this version. */
  readonly recordSchema: (version: PayloadVersion) => v.GenericSchema;
  /** A record in its v2 form, with everything in it. */
  readonly sample: object;
  /** What its writes fire (docs: "Which write fires what"). Stock movements name theirs by type instead. */
  readonly events: {
    readonly created: EventType | null;
    readonly updated: EventType | null;
    readonly statusChanged: EventType | null;
  };
}

/** The entry of orders. */
export const orderEntry = {
  kind: 'order',
  noun: 'order',
  path: '/orders',
  idField: 'eshopOrderId',
  responseOnly: orderResponseOnly,
  recordSchema: orderRecordSchema,
  sample: sampleOrder,
  events: { created: 'CREATE_ORDER', updated: 'UPDATE_ORDER', statusChanged: 'UPDATE_ORDER_STATUS' },
} as const satisfies CatalogueEntry;

/** The entry of products. */
export const productEntry = {
  kind: 'product',
  noun: 'product',
  path: '/products',
  idField: 'sku',
  responseOnly: productResponseOnly,
  recordSchema: productRecordSchema,
  sample: sampleProduct,
  events: { created: 'CREATE_PRODUCT', updated: 'UPDATE_PRODUCT', statusChanged: null },
} as const satisfies CatalogueEntry;

/** The entry of receivings. */
export const receivingEntry = {
  kind: 'receiving',
  noun: 'receiving',
  path: '/receivings',
  idField: 'eshopReceivingId',
  responseOnly: receivingResponseOnly,
  recordSchema: receivingRecordSchema,
  sample: sampleReceiving,
  events: {
    created: 'CREATE_RECEIVING',
    updated: 'UPDATE_RECEIVING',
    statusChanged: 'UPDATE_RECEIVING_STATUS',
  },
} as const satisfies CatalogueEntry;

/** The entry of returns. */
export const returnEntry = {
  kind: 'return',
  noun: 'return',
  path: '/returns',
  idField: 'eshopReturnId',
  responseOnly: returnResponseOnly,
  recordSchema: returnRecordSchema,
  sample: sampleReturn,
  events: { created: 'CREATE_RETURN', updated: 'UPDATE_RETURN', statusChanged: 'UPDATE_RETURN_STATUS' },
} as const satisfies CatalogueEntry;

/** The entry of stock movements. */
export const stockMovementEntry = {
  kind: 'stockMovement',
  noun: 'stock movement',
  path: '/stock-movements',
  idField: 'id',
  responseOnly: stockMovementResponseOnly,
  recordSchema: stockMovementRecordSchema,
  sample: sampleStockMovement,
  events: { created: null, updated: null, statusChanged: null },
} as const satisfies CatalogueEntry;

/** Every kind of record. */
export const catalogue: readonly CatalogueEntry[] = [
  orderEntry,
  productEntry,
  receivingEntry,
  returnEntry,
  stockMovementEntry,
];

/** The entry of the records that an event type speaks of; undefined while that kind has none. */
export function entryOf(type: EventType): CatalogueEntry | undefined {
  const kind = eventTypes[type].entity;
  return catalogue.find((entry) => entry.kind === kind);
}

/** A record as a delivery of this type carries it; undefined while its kind has no entry. */
export function sampleOf(type: EventType): object | undefined {
  const movement = stockMovementTypes.find((name) => stockMovementEvents[name] === type);
  return movement === undefined ? entryOf(type)?.sample : sampleMovementOf(movement);
}
