/** The outcomes of events at every webhook, with reasons. */
import type * as v from 'valibot';
import type { Sql } from '../db/connection/pool.ts';
import {
  type DeliveryOfEvent,
  deliveriesOf,
  type EventFilter,
  type EventRow,
  versionsOf,
} from '../db/event-log.ts';
import { kindsWith } from '../db/records/kinds-with.ts';
import { findUnchanged } from '../db/records/unchanged.ts';
import { absenceAt, absenceOf, type WebhookAbsence, type WebhookVersion } from '../domain/absence.ts';
import { catalogue } from '../domain/catalogue.ts';
import { eventTypes } from '../domain/event-types.ts';
import { timeOf } from '../domain/id-time.ts';
import { capital } from '../domain/text.ts';
import type { Event, MissingEvent } from './event-schemas.ts';

type Shown = v.InferOutput<typeof Event>;

export async function withOutcomes(sql: Sql, eshopId: number, events: readonly EventRow[]): Promise<Shown[]> {
  if (events.length === 0) return [];
  const ids = events.map(({ id }) => id);
  const types = [...new Set(events.map(({ type }) => type))];
  const [deliveries, versions] = await Promise.all([deliveriesOf(sql, ids), versionsOf(sql, eshopId, types)]);
  const ofEvent = grouped(deliveries, ({ eventId }) => eventId);
  const ofWebhook = grouped(versions, ({ webhookId }) => webhookId);
  return events.map((event) => eventWithOutcomes(event, ofEvent.get(event.id) ?? [], ofWebhook));
}

function grouped<Row, Key>(rows: readonly Row[], keyOf: (row: Row) => Key): Map<Key, Row[]> {
  const groups = new Map<Key, Row[]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group === undefined) groups.set(keyOf(row), [row]);
    else group.push(row);
  }
  return groups;
}

function eventWithOutcomes(
  { id, type, entityId, sequence, origin, changed, test }: EventRow,
  deliveries: readonly DeliveryOfEvent[],
  webhooks: ReadonlyMap<number, readonly WebhookVersion[]>,
): Shown {
  const at = timeOf(id);
  const reached = new Set(deliveries.map(({ webhookId }) => webhookId));
  const absences = [...webhooks].flatMap(([webhookId, versions]) => {
    const concerned = !reached.has(webhookId) && versions.some(({ types }) => types.includes(type));
    return (concerned ? absenceAt({ type, at, changed, origin }, versions) : null) ?? [];
  });
  const absence = deliveries.length === 0 ? absenceOf({ type, at, changed }, absences) : null;
  return {
    id,
    webhookType: type,
    entityId,
    sequence,
    origin,
    changed,
    createdAt: at.toISOString(),
    test,
    webhooks: [
      ...deliveries.map(delivered),
      ...absences.filter(({ deleted }) => !deleted).map(absent),
      ...absences.filter(({ deleted }) => deleted).map(absent),
    ],
    cause: absence?.cause ?? null,
    reason: absence?.reason ?? null,
  };
}

function delivered(delivery: DeliveryOfEvent) {
  const { id, webhookId, state, attemptsMade, lastError } = delivery;
  return {
    webhookId,
    deliveryId: id,
    state,
    attemptsMade,
    lastError,
    cause: null,
    reason: delayReason(delivery),
  };
}

/** Why an ordered delivery is delayed or will not be sent (docs/interface.md, D16, D17). */
function delayReason({ supersededBy, waitsFor }: DeliveryOfEvent): string | null {
  if (supersededBy !== null) return `It was superseded by delivery ${supersededBy}, of a newer event.`;
  if (waitsFor?.reason !== 'order') return null;
  const { deliveryId, nextAttemptAt } = waitsFor;
  if (deliveryId === undefined) return 'It waits for its turn in the order of its record.';
  const next =
    nextAttemptAt == null ? '' : `, which is tried again at ${new Date(nextAttemptAt).toISOString()}`;
  return `It waits behind delivery ${deliveryId}${next}.`;
}

function absent({ webhookId, cause, reason }: WebhookAbsence) {
  return { webhookId, deliveryId: null, state: null, attemptsMade: null, lastError: null, cause, reason };
}

/**
 * Why there may be no event where one was expected; undefined unless the request names a record.
 * @param found the number of events on the first page
 */
export async function missingEvents(
  sql: Sql,
  eshopId: number,
  { entityId, webhookType, since, until }: EventFilter,
  found: number,
): Promise<v.InferOutput<typeof MissingEvent>[] | undefined> {
  if (entityId === undefined) return undefined;
  const types = webhookType === undefined ? Object.values(eventTypes) : [eventTypes[webhookType]];
  const kinds = [...new Set(types.map(({ entity }) => entity))];
  const unchanged = (await findUnchanged(sql, eshopId, kinds, entityId)).filter(
    ({ at }) => (since === undefined || at >= since) && (until === undefined || at < until),
  );
  const fired = unchanged.map(({ kind, at }) => ({
    cause: 'unchanged' as const,
    at: at.toISOString(),
    reason: `The write of ${catalogue[kind].noun} ${entityId} at ${at.toISOString()} changed nothing, so nothing fired.`,
  }));
  if (found > 0 || fired.length > 0) return fired;
  const existingKinds = (await kindsWith(sql, eshopId, entityId)).filter((kind) => kinds.includes(kind));
  const [kind] = existingKinds;
  if (kind === undefined) {
    const nouns = kinds.map((each) => catalogue[each].noun).join(', ');
    return [{ cause: 'unknownRecord', at: null, reason: `There is no record ${entityId} (${nouns}).` }];
  }
  if (webhookType !== undefined || since !== undefined || until !== undefined) return [];
  const reason = `${capital(catalogue[kind].noun)} ${entityId} exists, but its events are no longer kept.`;
  return [{ cause: 'notKept', at: null, reason }];
}
