/**
 * Deliveries on their way to Temporal. Rows are claimed under a lease: if a relay dies, another claims them.
 */
import type postgres from 'postgres';
import type { StoredState } from '../../domain/delivery-state.ts';
import type { EventType } from '../../domain/event-types.ts';
import { anyOf } from '../ids.ts';
import type { Sql } from '../pool.ts';

/** How long a claimed row belongs to its process, in seconds, unless the claim is renewed: rows of a killed relay wait this long. */
export const LEASE_SECONDS = 5;
/** How long a delivery that Temporal refused to start is left alone, in seconds. */
const REFUSED_SECONDS = 30;

/** The classes of waiting deliveries, as in `deliveries.class`. */
export const CLASS = {
  /** Written with its event, or a redelivery. */
  fresh: 0,
  /** Requeued, by a batch or with its workflow owed: its next attempt is due within a minute, regardless of its class before. */
  retry: 1,
  /** Written by an import. */
  bulk: 2,
  /** Created by a recovery. */
  recovered: 3,
  /** Requeued or owed, and no attempt is due within a minute: it needs its workflow. */
  workflow: 4,
  /** Behind an older event of its record, or held, at a webhook with an order: no claim takes it. */
  inOrder: 5,
} as const;
export type DeliveryClass = (typeof CLASS)[keyof typeof CLASS];

/** The class in which a delivery was written, as SQL. One that waited in another without an attempt goes back to it. */
export function writtenIn(sql: Sql, alias: string) {
  const d = sql(alias);
  return sql`
    case when ${d}.recovery_id is not null then ${CLASS.recovered}::smallint when ${d}.bulk then ${CLASS.bulk}::smallint
      else ${CLASS.fresh}::smallint end`;
}

/** A delivery to be started. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly eshopId: number;
  readonly webhookId: number;
  readonly eventType: EventType;
  readonly entityId: string;
  /** The host in its webhook's URL at present; null if it has none. */
  readonly receiverHost: string | null;
  /** The point of the trace that it comes from; null if there is none, absent if not asked for. */
  readonly traceparent?: string | null;
}

export interface QueuedDelivery extends ClaimedDelivery {
  /** The batch that makes its next attempt; null: the relay or its own workflow does. */
  readonly batchId: string | null;
  readonly traceparent: string | null;
  /** It may be delivered already: its process died, or Temporal was away, before its workflow was started. */
  readonly state: StoredState;
  /** Recorded attempts; 0 before the first. */
  readonly attemptsMade: number;
  readonly lastAttemptAt: Date | null;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  readonly nextAttemptAt: Date | null;
  /** Its webhook has an order, and another delivery of its record may be in its way: `keepOrder` decides. */
  readonly mayNotGo: boolean;
}

/**
 * A condition that always holds, as SQL: the statement's COMMIT does not wait for the disk. For claims and marks: a crash of the
 * database may undo them, and then the same is done again. Anything based on them is committed later, and by then they are on the disk
 * too.
 */
export function unflushed(sql: Sql) {
  return sql`(select set_config('synchronous_commit', 'off', true)) is not null`;
}

/** When a lease that begins or is renewed now ends, as SQL. */
export function leaseEnd(sql: Sql) {
  return sql`now() + make_interval(secs => ${LEASE_SECONDS})`;
}

/** The `receiverHost` of a delivery to this webhook, as SQL. */
export function receiverHost(sql: Sql, webhookId: postgres.Fragment) {
  return sql`(select host from webhooks where id = ${webhookId}) as receiver_host`;
}

/** The columns of a `QueuedDelivery`, except `mayNotGo`, as SQL. */
export function queuedColumns(sql: Sql, alias: string) {
  const d = sql(alias);
  return sql`
    ${d}.id, ${d}.eshop_id, ${d}.webhook_id, ${d}.event_type, ${d}.entity_id, ${d}.batch_id, ${d}.traceparent, ${d}.state, ${d}.attempts_made,
    ${d}.last_attempt_at, ${d}.last_status, ${d}.last_error, ${d}.next_attempt_at, ${receiverHost(sql, sql`${d}.webhook_id`)}`;
}

/** Records that Temporal has these deliveries: the lasting guard against a second start. */
export async function markDispatched(sql: Sql, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`update deliveries set dispatched_at = now(), claimed_until = null where ${anyOf(sql, sql`id`, ids)} and ${unflushed(sql)}`;
}

/** Renews the claim on those that are still claimed. */
export async function renewDeliveries(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql`
    update deliveries set claimed_until = ${leaseEnd(sql)}
    where ${anyOf(sql, sql`id`, ids)} and dispatched_at is null and claimed_until is not null`;
}

/** Sets aside deliveries that Temporal refused to start: they are tried again later, and block no others until then. */
export async function setAsideDeliveries(sql: Sql, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    update deliveries set claimed_until = now() + make_interval(secs => ${REFUSED_SECONDS})
    where ${anyOf(sql, sql`id`, ids)} and dispatched_at is null`;
}

/**
 * An attempt due within this time, in seconds, waits in the queue. When a hundred receivers fail together, their second attempts fall
 * due together: as timers of a hundred workflows they would fire in one second. A delivery due later gets its workflow at once, to be
 * seen and controlled in Temporal.
 */
const WAITS_IN_QUEUE_SECONDS = 60;

/** How a requeued or owed delivery waits if its next attempt is due at that time, as SQL: its class, and from when it can be claimed. */
export function waitUntil(sql: Sql, nextAttemptAt: postgres.Fragment) {
  const soon = sql`(${nextAttemptAt} <= now() + make_interval(secs => ${WAITS_IN_QUEUE_SECONDS}))`;
  return {
    deliveryClass: sql`case when ${soon} then ${CLASS.retry}::smallint else ${CLASS.workflow}::smallint end`,
    dueAt: sql`case when ${soon} then ${nextAttemptAt} else now() end`,
  };
}

/** Temporal did not take these: an attempted delivery is no longer fresh, and waits for its next attempt or for its workflow. */
export async function oweWorkflows(sql: Sql, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const { deliveryClass, dueAt } = waitUntil(sql, sql`next_attempt_at`);
  await sql`
    update deliveries set claimed_until = null, class = ${deliveryClass}, due_at = ${dueAt}
    where ${anyOf(sql, sql`id`, ids)} and dispatched_at is null and batch_id is null`;
}

/** How long a deferred delivery is left alone, in seconds. Less: claims in vain. More: a receiver that is free again waits. */
export const DEFERRED_SECONDS = 1;

/**
 * Defers claimed deliveries that got no permit: they wait in the queue as they were. One that another process has attempted meanwhile,
 * after the lease, keeps its plan.
 */
export async function deferDeliveries(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql`
    update deliveries set claimed_until = null, next_attempt_at = null, due_at = now() + make_interval(secs => ${DEFERRED_SECONDS})
    where ${anyOf(sql, sql`id`, ids)} and state = 'pending' and attempts_made = 0 and dispatched_at is null and batch_id is null`;
}

/** Gives back claimed deliveries whose start failed: they can be claimed again at once. */
export async function giveBackDeliveries(sql: Sql, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`update deliveries set claimed_until = null where ${anyOf(sql, sql`id`, ids)} and dispatched_at is null`;
}
