import * as v from 'valibot';
import { eventCauses, webhookCauses } from '../domain/absence.ts';
import { eventTypeNames } from '../domain/event-types.ts';
import {
  component,
  described,
  identifier,
  oneOf,
  recordNumber,
  time,
  uuid,
  wholeNumber,
} from '../domain/fields.ts';
import { timestamp } from '../domain/timestamp.ts';
import { eventType } from '../domain/webhook-types.ts';
import { changed, origin, sequence, state } from './deliveries/record.ts';

/** The names of causes; their texts, without details, are for the documentation. */
function cause<const Causes extends Readonly<Record<string, string>>>(causes: Causes) {
  const names = Object.keys(causes) as [keyof Causes & string, ...(keyof Causes & string)[]];
  const listed = names.map((name) => `- \`${name}\`: ${causes[name]}`).join('\n');
  const text = listed.replaceAll('{error}', '').replaceAll(/\{\w+\}/g, '…');
  return described(v.picklist(names), `The reason, as a code.\n\n${text}`);
}

const Outcome = component('Outcome', {
  webhookId: recordNumber(),
  deliveryId: described(v.nullable(uuid()), 'Null if there is no delivery.'),
  state: v.nullable(state),
  attemptsMade: v.nullable(wholeNumber()),
  lastError: v.nullable(v.string()),
  cause: v.nullable(cause(webhookCauses)),
  reason: v.pipe(
    v.nullable(v.string()),
    v.description(
      'Why there is no delivery, or, if its webhook has an `ordering`, which other delivery it waits for or was superseded by, in a sentence; null otherwise.',
    ),
    v.examples(['Webhook 7 was inactive: it had been deactivated at 2026-11-20T10:00:00.000Z on request.']),
  ),
});

const eventEntries = {
  id: described(uuid(), 'UUIDv7; the `eventId` of its deliveries.'),
  webhookType: eventType,
  entityId: v.string(),
  sequence,
  origin,
  changed: described(v.nullable(changed), 'Null for an event that is no update.'),
  createdAt: described(time(), 'The time of the event.'),
  test: described(
    v.boolean(),
    'True for a test event, triggered by the operator of the warehouse: its record does not exist.',
  ),
  webhooks: described(
    v.array(Outcome),
    'One entry for each delivery, redeliveries included, and one for each webhook that got none although it is, or once was, of this type.',
  ),
  cause: v.nullable(cause(eventCauses)),
  reason: v.pipe(
    v.nullable(v.string()),
    v.description('Why the event has no delivery at all; null if it has one.'),
    v.examples(['There has been no webhook of the type CREATE_ORDER.']),
  ),
};

export const eventFilter = {
  webhookType: v.optional(described(oneOf(eventTypeNames), 'The type of the event.')),
  entityId: v.optional(
    v.pipe(
      identifier(),
      v.description('The identifier of the order, product, receiving, return or stock movement.'),
      v.examples(['10001']),
    ),
  ),
  since: v.optional(timestamp('Only events from this time on: any ISO 8601 date-time with an offset.')),
  until: v.optional(timestamp('Only events before this time: any ISO 8601 date-time with an offset.')),
};

export const Event = component('Event', eventEntries);

export const EventWithRecord = component('EventWithRecord', {
  ...eventEntries,
  record: described(
    v.looseObject({}),
    'The order, product, receiving, return or stock movement right after the write, as its read endpoint under this path shows it, with packing lists.',
  ),
});

export const recordCauses = {
  unchanged: 'its last write, or an earlier one, changed nothing, and so fired nothing',
  unknownRecord: 'there is no such record',
  notKept: 'the record exists, but its events are no longer kept',
} as const;

export const MissingEvent = component('MissingEvent', {
  cause: cause(recordCauses),
  at: described(v.nullable(time()), 'The time of the write that fired nothing.'),
  reason: v.pipe(
    v.string(),
    v.examples(['The write of order 10001 at 2026-11-20T10:00:00.000Z changed nothing, so nothing fired.']),
  ),
});
