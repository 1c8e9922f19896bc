import * as v from 'valibot';
import { eventTypeNames } from '../../domain/event-types.ts';
import { described, identifier, oneOf } from '../../domain/fields.ts';
import { timestamp } from '../../domain/timestamp.ts';

/** Filters by type, record and time of events. */
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
