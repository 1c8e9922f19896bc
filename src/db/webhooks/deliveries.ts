/**
 * A delivery's life in the database: what an attempt needs, and the records that decide what follows. Each
 * function that records is one durable step and may be repeated.
 * @module
 */

import type { StoredState } from '../../domain/delivery-state.ts';
import type { EventType } from '../../domain/event-types.ts';
import type { Sql } from '../pool.ts';

/** What one attempt reads: the delivery, its event's snapshot, and the webhook as it is now. */
export interface DeliveryForAttempt {
  readonly id: string;
  readonly eshopId: number;
  readonly webhookId: number;
  readonly eventType: EventType;
  readonly entityId: string;
  readonly state: StoredState;
  readonly attemptsMade: number;
  readonly windowStartedAt: Date | null;
  readonly nextAttemptAt: Date | null;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  /** The webhook's generation that the last attempt was made under. */
  readonly lastGeneration: number | null;
  /** Of the last recorded attempt. */
  readonly lastOutcome: 'success' | 'failure' | 'gone' | null;
  readonly lastStartedAt: Date | null;
  readonly lastAttemptAt: Date | null;
  /** How much later than due its attempts began because of outages of ours, in milliseconds. */
  readonly lateMs: number;
  /** Outages of ours left no room for the attempts still due. */
  readonly windowLost: boolean;
  readonly url: string;
  readonly method: 'POST' | 'GET';
  readonly active: boolean;
  readonly generation: number;
  /** Since when the generation is this one; null where it never rose. */
  readonly generationAt: Date | null;
  readonly payloadVersion: 'v2' | 'v21';
  readonly parameters: { readonly withPackingLists?: boolean } | null;
  readonly secret: Buffer;
  readonly previousSecret: Buffer | null;
  readonly previousSecretUntil: Date | null;
  readonly deletedAt: Date | null;
  /** JSON text of the record after the write, in its v2 form. */
  readonly snapshot: string;
  /** The database's clock when this was read. */
  readonly now: Date;
}

/** Reads a delivery with its webhook and snapshot; undefined where there is none. */
export async function loadForAttempt(sql: Sql, deliveryId: string): Promise<DeliveryForAttempt | undefined> {
  const [row] = await sql<DeliveryForAttempt[]>`
    select d.id, d.eshop_id, d.webhook_id, d.event_type, d.entity_id, d.state, d.attempts_made, d.window_started_at,
           d.next_attempt_at, d.last_status, d.last_error, d.last_generation, d.last_attempt_at, d.late_ms::float8 as late_ms, d.window_lost,
           a.outcome as last_outcome, a.started_at as last_started_at,
           w.url, w.method, w.active, w.generation, w.generation_at, w.payload_version, w.parameters, w.secret, w.previous_secret,
           w.previous_secret_until, w.deleted_at, e.snapshot, clock_timestamp() as now
    from deliveries d
    join webhooks w on w.id = d.webhook_id
    join events e on e.id = d.event_id
    left join attempts a on a.delivery_id = d.id and a.number = d.attempts_made
    where d.id = ${deliveryId}`;
  return row;
}

/** When an attempt began, and the window of its delivery with it. */
export interface BegunAttempt {
  readonly startedAt: Date;
  readonly windowStartedAt: Date;
}

/**
 * Allocates an attempt's number before its request leaves. An attempt interrupted before its result was recorded
 * is begun again under the same number.
 * @returns undefined where this number already has its result
 */
export async function beginAttempt(
  sql: Sql,
  attempt: { deliveryId: string; number: number; generation: number },
): Promise<BegunAttempt | undefined> {
  const [row] = await sql<BegunAttempt[]>`
    with begun as (
      insert into attempts (delivery_id, number, generation, started_at)
      values (${attempt.deliveryId}, ${attempt.number}, ${attempt.generation}, clock_timestamp())
      on conflict (delivery_id, number) do update
        set started_at = excluded.started_at, generation = excluded.generation
        where attempts.finished_at is null
      returning delivery_id, started_at)
    update deliveries d set window_started_at = coalesce(d.window_started_at, begun.started_at)
    from begun where d.id = begun.delivery_id
    returning begun.started_at, d.window_started_at`;
  return row;
}

/** The result of an attempt, with what follows from it. */
export interface AttemptRecord {
  readonly deliveryId: string;
  readonly number: number;
  readonly generation: number;
  readonly outcome: 'success' | 'failure' | 'gone';
  readonly finishedAt: Date;
  readonly durationMs: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly responseExcerpt: string | null;
  /** null after a success, or when no attempt is left. */
  readonly nextAttemptAt: Date | null;
  /** How much later than due it began because of an outage of ours, in milliseconds. */
  readonly lateMs: number;
  /** No attempt is left, and the reason is an outage of ours. */
  readonly windowLost: boolean;
}

/**
 * Records an attempt's result and what follows from it in one statement. The first result recorded stays, except that a
 * success takes the place of a failure: of two requests made under one number by mistake, the accepted one counts.
 * @returns the delivery's state afterwards; undefined where this changed nothing
 */
export async function recordAttempt(sql: Sql, record: AttemptRecord): Promise<StoredState | undefined> {
  const delivered = record.outcome === 'success';
  const [row] = await sql<{ state: StoredState }[]>`
    with finished as (
      update attempts set finished_at = ${record.finishedAt}, outcome = ${record.outcome},
        duration_ms = ${record.durationMs}, status = ${record.status}, error = ${record.error},
        response_excerpt = ${record.responseExcerpt}, next_attempt_at = ${record.nextAttemptAt}
      where delivery_id = ${record.deliveryId} and number = ${record.number}
        and (finished_at is null or ${delivered} and outcome <> 'success')
      returning delivery_id)
    update deliveries d set
      state = ${delivered ? 'delivered' : 'retrying'}, attempts_made = greatest(d.attempts_made, ${record.number}),
      last_attempt_at = ${record.finishedAt}, last_status = ${record.status}, last_error = ${record.error},
      last_generation = ${record.generation}, next_attempt_at = ${record.nextAttemptAt},
      late_ms = d.late_ms + ${record.lateMs}, window_lost = ${record.windowLost},
      finished_at = ${delivered ? record.finishedAt : null}
    from finished where d.id = finished.delivery_id and d.state in ('pending', 'retrying')
    returning d.state`;
  return row?.state;
}

/**
 * Records that no attempt follows after all. Where outages of ours took time of the window, they are the reason.
 * @param attemptsMade as read: an attempt recorded in the meantime keeps its own plan
 */
export async function spendRetries(sql: Sql, deliveryId: string, attemptsMade: number): Promise<void> {
  await sql`
    update deliveries set next_attempt_at = null, window_lost = late_ms > 0
    where id = ${deliveryId} and attempts_made = ${attemptsMade} and state in ('pending', 'retrying')`;
}

/**
 * Plans an attempt anew that cannot be made now. What was planned is not late by this.
 * @param attemptsMade as read: an attempt recorded in the meantime keeps its own plan
 */
export async function deferAttempt(
  sql: Sql,
  deliveryId: string,
  attemptsMade: number,
  waitMs: number,
): Promise<void> {
  await sql`
    update deliveries d set next_attempt_at = clock_timestamp() + make_interval(secs => ${waitMs / 1_000})
    where d.id = ${deliveryId} and d.attempts_made = ${attemptsMade} and d.state in ('pending', 'retrying')`;
}

/** The webhook's generation now; an attempt compares it with the one it was made under. */
export async function webhookGeneration(sql: Sql, webhookId: number): Promise<number | undefined> {
  const [row] = await sql<{ generation: number }[]>`select generation from webhooks where id = ${webhookId}`;
  return row?.generation;
}

/** Starts the window of a delivery whose first attempt cannot be made yet. */
export async function startWindow(sql: Sql, deliveryId: string): Promise<void> {
  await sql`
    update deliveries set window_started_at = coalesce(window_started_at, clock_timestamp()) where id = ${deliveryId}`;
}

/** Who canceled a delivery: an operator in Temporal, or the deletion of its webhook. */
export type CanceledBy = 'operator' | 'deletion';

/**
 * Open → expired or canceled. A cancellation without the webhook's deletion was an operator's.
 * @param error replaces the last failure
 * @returns the state afterwards, since a delivery that already ended keeps its end, and whether this call ended it
 */
export async function closeDelivery(
  sql: Sql,
  deliveryId: string,
  state: 'expired' | 'canceled',
  error: string | null = null,
): Promise<{ readonly state: StoredState; readonly closed: boolean }> {
  const closed = await sql`
    update deliveries d set state = ${state}, finished_at = clock_timestamp(), next_attempt_at = null,
      last_error = coalesce(${error}, d.last_error),
      canceled_by = case when ${state} = 'canceled' then case when w.deleted_at is null then 'operator' else 'deletion' end end
    from webhooks w
    where d.id = ${deliveryId} and w.id = d.webhook_id and d.state in ('pending', 'retrying')`;
  const [row] = await sql<{ state: StoredState }[]>`select state from deliveries where id = ${deliveryId}`;
  return { state: row?.state ?? 'canceled', closed: closed.count > 0 };
}
