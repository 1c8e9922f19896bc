/**
 * Which fields of records are personal data (docs/interface.md, O14): what an erasure empties, and webhooks may
 * leave out (W24).
 */
import type { EntityKind } from './event-types.ts';
import { personalOrderFields, withoutCustomer } from './order/personal-data.ts';
import type { OrderRecord } from './order/schema.ts';
import { personalReturnFields, returnWithoutCustomer } from './return/personal-data.ts';
import type { ReturnRecord } from './return/schema.ts';

/** A record as it is stored, by its kind. */
export interface PersonalRecords {
  order: OrderRecord;
  return: ReturnRecord;
}
/** The kinds of records that have personal data. */
export type PersonalKind = keyof PersonalRecords;

const erasers: { readonly [Kind in PersonalKind]: (record: PersonalRecords[Kind]) => PersonalRecords[Kind] } =
  { order: withoutCustomer, return: returnWithoutCustomer };

/** The personal fields of each kind: null without personal data, except that `orderFiles` is an empty list. */
export const personalFields: Readonly<Record<PersonalKind, readonly string[]>> = {
  order: personalOrderFields,
  return: personalReturnFields,
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
