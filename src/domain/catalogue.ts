/**
 * The catalogue of entities: one entry per kind of record. Read endpoints, documentation, sample deliveries and tests
 * are derived from it and from `event-types.ts`.
 *
 * Module domain, which imports nothing. Begin: `event-types.ts`, then the schema of a kind, such as
 * `order/schema.ts`.
 */
import type * as v from 'valibot';
import type { PayloadVersion } from './decimal.ts';
import {
  type EntityKind,
  type EventType,
  eventTypes,
  movementOf,
  type Occasion,
  type OccasionsOf,
} from './event-types.ts';
import { createdOrder, orderRecordSchema, sampleOrder } from './order/record.ts';
import { orderResponseOnly } from './order/schema.ts';
import { productRecordSchema, productResponseOnly, sampleProduct } from './product/schema.ts';
import {
  createdReceiving,
  receivingRecordSchema,
  receivingResponseOnly,
  sampleReceiving,
} from './receiving/schema.ts';
import { createdReturn, returnRecordSchema, returnResponseOnly, sampleReturn } from './return/schema.ts';
import {
  sampleMovementOf,
  sampleStockMovement,
  stockMovementRecordSchema,
  stockMovementResponseOnly,
} from './stock/movement.ts';

export interface CatalogueEntry {
  readonly kind: EntityKind;
  /** Its name in sentences, in lower case. */
  readonly noun: string;
  /** Its resource below `/v21` and `/v2`. */
  readonly path: string;
  /** The field that identifies it; GET webhooks receive its value. */
  readonly idField: string;
  /** Set if the database numbers its records, from 1; otherwise their e-shop names them. */
  readonly numbered?: true;
  /** Fields of the record that an e-shop's requests may not write. */
  readonly responseOnly: readonly string[];
  /**
   * The only occasion that a change to each of these fields fires. Without an entry, a change to a field that e-shops
   * write is an update, and a change to a `responseOnly` field fires nothing.
   */
  readonly firesInstead?: Readonly<Record<string, Occasion>>;
  readonly recordSchema: (version: PayloadVersion) => v.GenericSchema;
  /** A complete record in its v2 form. */
  readonly sample: object;
  readonly samples: Readonly<Partial<Record<Occasion, EventSample>>>;
}

interface EventSample {
  /** The fields in which its record differs from the kind's sample. */
  readonly fields?: object;
  /** The fields that the write changed, in the form of `changedFields`; null on creation. */
  readonly changed: string | null;
}

/** An entry with a sample for every occasion on which the kind has events. */
type EntryFor<Kind extends EntityKind> = CatalogueEntry & {
  readonly kind: Kind;
  readonly firesInstead?: Readonly<Record<string, OccasionsOf<Kind>>>;
  readonly samples: Readonly<Record<OccasionsOf<Kind>, EventSample>>;
};

export const catalogue: { readonly [Kind in EntityKind]: EntryFor<Kind> } = {
  order: {
    kind: 'order',
    noun: 'order',
    path: '/orders',
    idField: 'eshopOrderId',
    responseOnly: orderResponseOnly,
    firesInstead: { status: 'statusChanged' },
    recordSchema: orderRecordSchema,
    sample: sampleOrder,
    samples: {
      created: { fields: createdOrder, changed: null },
      updated: { changed: 'trackingNumbers,orderProducts' },
      statusChanged: { changed: 'status,statusHistory' },
    },
  },
  product: {
    kind: 'product',
    noun: 'product',
    path: '/products',
    idField: 'sku',
    responseOnly: productResponseOnly,
    recordSchema: productRecordSchema,
    sample: sampleProduct,
    samples: { created: { changed: null }, updated: { changed: 'price' } },
  },
  receiving: {
    kind: 'receiving',
    noun: 'receiving',
    path: '/receivings',
    idField: 'eshopReceivingId',
    responseOnly: receivingResponseOnly,
    firesInstead: { status: 'statusChanged' },
    recordSchema: receivingRecordSchema,
    sample: sampleReceiving,
    samples: {
      created: { fields: createdReceiving, changed: null },
      updated: { changed: 'products' },
      statusChanged: { changed: 'status' },
    },
  },
  return: {
    kind: 'return',
    noun: 'return',
    path: '/returns',
    idField: 'eshopReturnId',
    responseOnly: returnResponseOnly,
    firesInstead: { note: 'updated', status: 'statusChanged' },
    recordSchema: returnRecordSchema,
    sample: sampleReturn,
    samples: {
      created: { fields: createdReturn, changed: null },
      updated: { changed: 'returnedOrderProducts' },
      statusChanged: { changed: 'status' },
    },
  },
  stockMovement: {
    kind: 'stockMovement',
    noun: 'stock movement',
    path: '/stock-movements',
    idField: 'id',
    numbered: true,
    responseOnly: stockMovementResponseOnly,
    recordSchema: stockMovementRecordSchema,
    sample: sampleStockMovement,
    samples: { created: { changed: null } },
  },
};

export function entryOf(type: EventType): CatalogueEntry {
  return catalogue[eventTypes[type].entity];
}

/** The identifier of a record, appended to the URL of GET webhooks. */
export function idOf({ idField }: CatalogueEntry, record: object): string {
  return String(Reflect.get(record, idField));
}

/** Whether a record of this kind may have this identifier: a number has at most 18 digits. */
export function mayIdentify({ numbered }: CatalogueEntry, id: string): boolean {
  return numbered !== true || /^\d{1,18}$/.test(id);
}

/** A record as in deliveries of this type, in its v2 form. */
export function sampleOf(type: EventType): object {
  const movement = movementOf(type);
  if (movement !== null) return sampleMovementOf(movement);
  const { sample, samples } = entryOf(type);
  return { ...sample, ...samples[eventTypes[type].on]?.fields };
}

/** The changed fields that an event with {@link sampleOf} names; null if it is no update. */
export function sampleChangesOf(type: EventType): string | null {
  return entryOf(type).samples[eventTypes[type].on]?.changed ?? null;
}

/** A number that no record has: they are numbered from 1. */
export const NO_NUMBER = 0;

/**
 * For an event that an operator triggers as a test: its record does not exist (docs/interface.md, E5).
 * @example testRecordOf('CREATE_ORDER', new Date()).entityId; // 'TEST-MIBCPQ4C'
 */
export function testRecordOf(type: EventType, now: Date): { entityId: string; record: object } {
  const entry = entryOf(type);
  const id = entry.numbered === true ? NO_NUMBER : `TEST-${now.getTime().toString(36).toUpperCase()}`;
  const record = { ...sampleOf(type), [entry.idField]: id };
  return { entityId: idOf(entry, record), record };
}
