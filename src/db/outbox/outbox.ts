/**
 * The outbox has two parts. The queue is the deliveries that wait for an attempt, or for their workflow: the rows of
 * `deliveries` without `dispatched_at`. The table `changes_to_signal` has the changes that running workflows must be
 * signaled (`changes.ts`). Rows of both are claimed under a lease, those of the queue also with a claim token. If a
 * relay dies, another relay claims its rows. A relay that was only slow cannot change rows that another one has
 * claimed.
 */
import type postgres from 'postgres';
import type { StoredState } from '../../domain/delivery-state.ts';
import type { EventType } from '../../domain/event-types.ts';
import { isOpen, keepsOrdering, neverAttempted, seconds } from '../predicates.ts';
import { isoTime, type Sql } from '../sql.ts';

/** How long a claimed row belongs to its process, unless it is renewed. Rows of a killed relay wait this long. */
export const LEASE_SECONDS = 5;

/** The classes of waiting deliveries, as in `deliveries.class`: up to `recovered` those for an attempt. */
export const CLASS = {
  /** For an attempt: written with its event, or a redelivery. */
  fresh: 0,
  /** For an attempt that is due within a minute, whatever the delivery's class was before. */
  retry: 1,
  /** For an attempt: written by an import. */
  bulk: 2,
  /** For an attempt: created by a recovery. */
  recovered: 3,
  /** For its workflow: the delivery was attempted and not delivered, or its workflow has to decide. */
  undelivered: 4,
  /** For its workflow: delivered. */
  delivered: 5,
  /** Behind an older event of its record, or held, at a webhook that keeps an ordering: no claim takes it. */
  blocked: 6,
} as const;
export type DeliveryClass = (typeof CLASS)[keyof typeof CLASS];

/** The class in which a delivery was written, as SQL. Without an attempt, it returns there from other classes. */
export function originalClass(sql: Sql, alias: string) {
  const d = sql(alias);
  return sql`
    case when ${d}.recovery_id is not null then ${CLASS.recovered}::smallint when ${d}.bulk then ${CLASS.bulk}::smallint
      else ${CLASS.fresh}::smallint end`;
}

/**
 * The facts about a delivery that Temporal has: the parts of its workflow's id, the values it can be searched by, and
 * the point at which its trace goes on.
 */
export interface DeliveryIdentity {
  readonly id: string;
  readonly eshopId: number;
  readonly webhookId: number;
  readonly eventType: EventType;
  readonly entityId: string;
  /** The host in its webhook's URL at present; null if it has none. */
  readonly receiverHost: string | null;
  /** The point of the trace that the delivery comes from; null without a trace, absent if it was not queried. */
  readonly traceparent?: string | null;
}

/** A failed attempt of a delivery in the queue; its times in ISO 8601. */
interface QueuedFailure {
  readonly number: number;
  readonly status: number | null;
  readonly message: string;
  readonly at: string;
  readonly nextAttemptAt: string | null;
}

/** A delivery of the queue, claimed by this process. */
export interface QueuedDelivery extends DeliveryIdentity {
  /** The token of its claim. */
  readonly claimId: string;
  readonly traceparent: string | null;
  /** If the delivery has ended already, only its workflow is to be started. */
  readonly state: StoredState;
  /** Recorded attempts; 0 before the first. */
  readonly attemptsMade: number;
  readonly lastStatus: number | null;
  /** The failed attempts of the delivery, in order; null if there are none. */
  readonly failures: readonly QueuedFailure[] | null;
  /** The webhook keeps an ordering, and another delivery of the record may be ahead: `keepOrdering` decides. */
  readonly isBlocked: boolean;
}

export type ClaimedId = Pick<QueuedDelivery, 'id' | 'claimId'>;

/**
 * A condition that always holds, as SQL; its effect is that the COMMIT of the statement does not wait for the disk.
 * For claims and their tokens only: a crash of the database may undo them, and the work is then repeated. A later
 * transaction that builds on them waits for the disk, and then they are on the disk too. Inside a transaction it
 * would affect all of it, so no statement with it may be part of one.
 */
export function asyncCommit(sql: Sql) {
  return sql`(select set_config('synchronous_commit', 'off', true)) is not null`;
}

/** The condition that no process has claimed this row, as SQL. */
export function unclaimed(sql: Sql, alias: string) {
  const row = sql(alias);
  return sql`(${row}.claimed_until is null or ${row}.claimed_until < now())`;
}

/** The webhook of this row was activated or moved since the attempt with this generation, as SQL. */
export function changedSince(sql: Sql, webhook: string, generation: postgres.Fragment) {
  return sql`(${generation} <> ${sql(webhook)}.generation)`;
}

/**
 * The next attempt of a delivery `d` whose webhook `w` was activated or moved since the last one, as SQL: at once,
 * but not sooner after the last one than the policy's first wait; and whether it is planned for later.
 */
export function rescheduledAttempt(sql: Sql, firstWaitMs: number) {
  const soonest = sql`greatest(now(), d.last_attempt_at + ${seconds(sql, firstWaitMs / 1_000)})`;
  const isLater = sql`(d.next_attempt_at > ${soonest} and d.operator_stop is null
    and ${changedSince(sql, 'w', sql`d.last_generation`)})`;
  return { soonest, isLater };
}

/** When a lease that begins or is renewed now ends, as SQL. */
export function leaseEnd(sql: Sql) {
  return sql`now() + ${seconds(sql, LEASE_SECONDS)}`;
}

/** The `receiverHost` of a delivery to this webhook, as SQL. */
export function receiverHost(sql: Sql, webhookId: postgres.Fragment) {
  return sql`(select host from webhooks where id = ${webhookId}) as receiver_host`;
}

/** The columns of a `QueuedDelivery`, except `isBlocked`, as SQL. */
export function queuedColumns(sql: Sql, alias: string) {
  const d = sql(alias);
  return sql`
    ${d}.id, ${d}.claim_id, ${d}.eshop_id, ${d}.webhook_id, ${d}.event_type, ${d}.entity_id, ${d}.traceparent,
    ${d}.state, ${d}.attempts_made, ${d}.last_status, ${receiverHost(sql, sql`${d}.webhook_id`)},
    case when ${d}.attempts_made > 0 then (
      select json_agg(json_build_object(
        'number', a.number, 'status', a.status, 'message', a.error, 'at', ${sql.unsafe(isoTime('a.finished_at'))},
        'nextAttemptAt', ${sql.unsafe(isoTime('a.next_attempt_at'))}) order by a.number)
      from attempts a where a.delivery_id = ${d}.id and a.finished_at is not null and a.error is not null) end as failures`;
}

/**
 * A delivery whose next attempt is due within this time, in seconds, waits for it in the queue. When a hundred
 * receivers fail together, their second attempts fall due together: as timers of a hundred workflows they would all
 * fire in the same second. A delivery with a later attempt gets its workflow at once, to be seen and controlled in
 * Temporal.
 */
export const WAITS_IN_QUEUE_SECONDS = 60;

/** How a delivery waits in the queue for an attempt at a time, as SQL: its class, and from when it is claimed. */
export function waitUntil(sql: Sql, nextAttemptAt: postgres.Fragment) {
  const soon = sql`(${nextAttemptAt} <= now() + ${seconds(sql, WAITS_IN_QUEUE_SECONDS)})`;
  return {
    deliveryClass: sql`case when ${soon} then ${CLASS.retry}::smallint else ${CLASS.undelivered}::smallint end`,
    dueAt: sql`case when ${soon} then ${nextAttemptAt} else now() end`,
  };
}

/**
 * How a delivery `d` of the queue goes on, by its row and its webhook `w` as they are now, as SQL: its class, and the
 * time from which it can be claimed. Its workflow decides if the delivery is stopped or out of attempts, or if the
 * webhook is inactive or deleted. A delivery that was never attempted waits for its turn instead if its inactive
 * webhook keeps an ordering (docs/interface.md, D16).
 */
export function requeueTarget(sql: Sql) {
  const waits = waitUntil(sql, sql`d.next_attempt_at`);
  const needsWorkflow = sql`(d.operator_stop is not null or not w.active or w.deleted_at is not null
    or d.attempts_made > 0 and d.next_attempt_at is null)`;
  const keepsItsTurn = sql`(${neverAttempted(sql, 'd')} and d.operator_stop is null
    and d.ordering_key is not null and ${keepsOrdering(sql, 'w')} and not w.active)`;
  return {
    deliveryClass: sql`case
      when ${keepsItsTurn} then ${CLASS.blocked}::smallint
      when d.state = 'delivered' then ${CLASS.delivered}::smallint
      when not ${isOpen(sql)} or ${needsWorkflow} then ${CLASS.undelivered}::smallint
      when d.attempts_made = 0 then ${originalClass(sql, 'd')}
      else ${waits.deliveryClass} end`,
    dueAt: sql`case
      when not ${isOpen(sql)} or ${needsWorkflow} or d.attempts_made = 0 then now() else ${waits.dueAt} end`,
  };
}

/**
 * Resets the window of a delivery `d` whose first attempt was begun and given up: the window will begin with the
 * attempt that is made. A window that began in another way, such as by `startWindow`, stays.
 */
export const windowNotBegun = (sql: Sql) => sql`
    window_started_at = case when d.window_started_at is not null and not exists (
      select from attempts a
      where a.delivery_id = d.id and a.number = 1
        and a.finished_at is null and a.owned_until is null and a.started_at = d.window_started_at)
      then d.window_started_at end`;
