/**
 * Which fields of records are personal data (docs/interface.md, O14): an erasure empties them, and webhooks
 * may leave them out (W24).
 */
import type { EntityKind } from './event-types.ts';
import { billingFields, recipientFields } from './order/billing.ts';
import type { OrderRecord } from './order/schema.ts';
import type { ReturnRecord } from './return/schema.ts';

/** A record as it is stored, by its kind. */
export interface PersonalRecords {
  order: OrderRecord;
  return: ReturnRecord;
}
export type PersonalKind = keyof PersonalRecords;

/** Null once erased; the fields of a return are free texts, which may contain a name. */
export const nulledFields: Readonly<Record<PersonalKind, readonly string[]>> = {
  order: [...recipientFields, ...billingFields, ...(['pickupPoint', 'note'] satisfies (keyof OrderRecord)[])],
  return: ['description', 'eshopNote', 'note'] satisfies (keyof ReturnRecord)[],
};

/** All personal fields, as paths. Each is null without personal data; only `orderFiles` is an empty list. */
export const personalFields: Readonly<Record<PersonalKind, readonly string[]>> = {
  order: [...nulledFields.order, 'orderFiles', 'statusHistory[].note'],
  return: nulledFields.return,
};

function nulled<Kind extends PersonalKind>(kind: Kind, record: PersonalRecords[Kind]): PersonalRecords[Kind] {
  return { ...record, ...Object.fromEntries(nulledFields[kind].map((field) => [field, null])) };
}

const erasers: { readonly [Kind in PersonalKind]: (record: PersonalRecords[Kind]) => PersonalRecords[Kind] } =
  {
    /** Includes files, such as invoices, and the notes of status changes. */
    order: (order) => ({
      ...nulled('order', order),
      orderFiles: [],
      statusHistory: order.statusHistory.map((change) => ({ ...change, note: null })),
    }),
    return: (record) => nulled('return', record),
  };

export function hasPersonalData(kind: EntityKind): kind is PersonalKind {
  return Object.hasOwn(erasers, kind);
}

/** The record as an erasure would leave it. */
export function withoutPersonalData<Kind extends PersonalKind>(
  kind: Kind,
  record: PersonalRecords[Kind],
): PersonalRecords[Kind] {
  return erasers[kind](record);
}
