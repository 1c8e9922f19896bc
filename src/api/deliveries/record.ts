/** A delivery, as it is named and shown in the API. */
import * as v from 'valibot';
import type { DeliveryLogRow, findDelivery } from '../../db/deliveries/delivery-log.ts';
import { attemptOutcomes, cancelers, deliveryStates, limitReached } from '../../domain/delivery-state.ts';
import { component, described, oneOf, recordNumber, time, uuid, wholeNumber } from '../../domain/fields.ts';
import { actionNames, heldBy } from '../../domain/operator-action.ts';
import { origins } from '../../domain/origin.ts';
import { eventType } from '../../domain/webhook-types.ts';

export const tag = 'Deliveries';
export const deliveryId = described(uuid(), 'UUIDv7.');

/** A state, as shown and as a filter. */
export const state = described(
  oneOf(deliveryStates),
  '`pending`: not attempted yet. `retrying`: every attempt so far has failed. `held`: open, but the webhook is inactive or paused, or an operator of the warehouse holds the delivery. `delivered`: the receiver responded with a 2xx. ' +
    '`failed`: all retries failed. `expired`: its 48 hours ended while it was held, or because of a failure of the service itself. `canceled`: the webhook was deleted, or an operator or a user of the e-shop ended the delivery. `superseded`: a newer event of the record is sent in its place (`ordering` `latest`).',
);

/** The position of an event among those of its record, as in events, deliveries and headers. */
export const sequence = v.pipe(
  v.number(),
  v.integer(),
  v.minValue(1),
  v.description(
    'Rises with every event of the record, whatever its type, in the order in which the changes were made: a delivery with a lower one than you have handled is out of date. ' +
      'The first event of a record has 1. Gaps are normal: an event whose type no webhook has takes a number, too. A redelivery keeps that of its event; a stock movement is a record of its own; a test event has 1. ' +
      'Also sent as `X-Service-Sequence`, with every attempt.',
  ),
);

/** Who made the write of an event, and what it changed, as in events, deliveries and headers. */
export const origin = described(
  v.picklist(origins),
  'Who made the change. `shop`: a user of the e-shop. `warehouse`: a user of the warehouse, or its import. `service`: the service itself, such as when it releases a pre-order that is due, or in a test. ' +
    'Also sent as `X-Service-Origin`, with every attempt.',
);
export const changed = v.pipe(
  v.string(),
  v.description(
    'For UPDATE_* and UPDATE_*_STATUS: the top-level fields that changed, in the order of the record, joined by commas; `*` if that is longer than 1 KiB. `updatedAt`, which every change sets, is never named. ' +
      'Also sent as `X-Service-Changed`, with every attempt.',
  ),
  v.examples(['status,statusHistory']),
);

const requestFields = {
  by: described(v.string(), 'The name that was given with the request.'),
  reason: described(v.string(), 'The reason they gave; empty if none.'),
  at: time(),
};

const deliveryEntries = {
  id: described(uuid(), 'Also sent as `X-Service-Delivery`, with every attempt.'),
  webhookId: described(recordNumber(), 'Also sent as `X-Service-Webhook`, with every attempt.'),
  eventId: described(
    uuid(),
    'The same at every webhook and in every redelivery. Also sent as `X-Service-Event-Id`, with every attempt.',
  ),
  webhookType: described(eventType, 'The type of the event; the webhook may have another one by now.'),
  entityId: v.string(),
  sequence,
  origin: described(
    v.nullable(origin),
    'Who made the change of the event, as in `GET /events`. Null if the event is no longer kept.',
  ),
  changed: described(
    v.nullable(changed),
    'The fields that it changed, as in `GET /events`. Null for an event that is no update, or is no longer kept.',
  ),
  state,
  attemptsMade: wholeNumber(),
  createdAt: time(),
  lastAttemptAt: v.nullable(time()),
  lastStatus: v.nullable(wholeNumber()),
  lastError: v.nullable(v.string()),
  nextAttemptAt: described(
    v.nullable(time()),
    'Null if no attempt is planned: the delivery is held or has ended.',
  ),
  finishedAt: v.nullable(time()),
  canceledBy: described(
    v.nullable(v.picklist(cancelers)),
    'Who canceled it: the operator of the warehouse, a user of the e-shop who gave it up, or the deletion of the webhook. Null unless the state is `canceled`.',
  ),
  supersededBy: described(
    v.nullable(uuid()),
    'The delivery of the newer event that is sent in its place. Null unless the state is `superseded`.',
  ),
  waitsFor: described(
    v.nullable(
      component('WaitsFor', {
        reason: described(
          v.picklist(['order', 'limit', 'pause']),
          '`order`: an older event of the record has not ended at this receiver (see `ordering` of webhooks). ' +
            `\`limit\`: ${limitReached}. ` +
            '`pause`: its webhook is paused, or its recovery is.',
        ),
        deliveryId: described(v.nullable(uuid()), 'The delivery that it waits for, where there is one.'),
        since: time(),
        nextAttemptAt: described(
          v.nullable(time()),
          'When that delivery, or this one, is attempted next, if that is planned.',
        ),
      }),
    ),
    'What its first attempt is waiting for; while its webhook is paused, also a retry. Null if nothing holds it up.',
  ),
  heldBy: described(
    v.nullable(component('HeldBy', requestFields)),
    'The operator of the warehouse who holds it: no attempt is made until they resume it, and its 48 hours keep running. Null if it is not held, or only because its webhook is inactive or paused.',
  ),
};

export const Delivery = component('Delivery', deliveryEntries);

export const DeliveryWithAttempts = component('DeliveryWithAttempts', {
  ...deliveryEntries,
  operatorActions: described(
    v.array(
      component('OperatorAction', {
        action: described(
          v.picklist(actionNames),
          '`tryNow`: the next attempt was made immediately. `hold`, `resume`: see `heldBy`. `giveUp`: the delivery ended as `canceled`.',
        ),
        ...requestFields,
      }),
    ),
    'Actions by operators of the warehouse and users of the e-shop, oldest first.',
  ),
  attempts: v.array(
    component('Attempt', {
      number: described(wholeNumber(), 'From 1 to 21.'),
      startedAt: time(),
      durationMs: v.nullable(wholeNumber()),
      outcome: described(
        v.nullable(v.picklist(attemptOutcomes)),
        'Null while the attempt is in progress. `gone`: the receiver responded with 410.',
      ),
      status: described(
        v.nullable(wholeNumber()),
        'The HTTP status of the response; null if there was none.',
      ),
      error: v.nullable(v.string()),
      responseExcerpt: described(v.nullable(v.string()), 'The first 1 KiB of the response body, as text.'),
      nextAttemptAt: v.nullable(time()),
    }),
  ),
});

function waitsForOf({ waitsFor }: DeliveryLogRow) {
  if (waitsFor === null) return null;
  const { reason, deliveryId = null, since, nextAttemptAt = null } = waitsFor;
  return {
    reason,
    deliveryId,
    since: new Date(since).toISOString(),
    nextAttemptAt: nextAttemptAt === null ? null : new Date(nextAttemptAt).toISOString(),
  };
}

export function recordOf(row: DeliveryLogRow): v.InferOutput<typeof Delivery> {
  return {
    id: row.id,
    webhookId: row.webhookId,
    eventId: row.eventId,
    webhookType: row.eventType,
    entityId: row.entityId,
    sequence: row.sequence,
    origin: row.origin,
    changed: row.changed,
    state: row.state,
    attemptsMade: row.attemptsMade,
    createdAt: row.createdAt.toISOString(),
    lastAttemptAt: row.lastAttemptAt?.toISOString() ?? null,
    lastStatus: row.lastStatus,
    lastError: row.lastError,
    nextAttemptAt: row.nextAttemptAt?.toISOString() ?? null,
    finishedAt: row.finishedAt?.toISOString() ?? null,
    canceledBy: row.canceledBy,
    supersededBy: row.supersededBy,
    waitsFor: waitsForOf(row),
    heldBy: heldBy(row),
  };
}

type Found = NonNullable<Awaited<ReturnType<typeof findDelivery>>>;

export function fullRecordOf({ delivery, attempts }: Found): v.InferOutput<typeof DeliveryWithAttempts> {
  const shown = attempts.map((row) => ({
    ...row,
    startedAt: row.startedAt.toISOString(),
    nextAttemptAt: row.nextAttemptAt?.toISOString() ?? null,
  }));
  const operatorActions = (delivery.operatorActions ?? []).map(({ action, by, reason, at }) => ({
    action,
    by,
    reason,
    at,
  }));
  return { ...recordOf(delivery), operatorActions, attempts: shown };
}

export const noSuchDelivery =
  'the delivery does not exist, belongs to another e-shop, or its webhook was deleted.';
