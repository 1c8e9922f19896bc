/** Records the results of attempts and their consequences: one durable step, which may be repeated. */
import type { RecordedOutcome, StoredState } from '../../domain/delivery-state.ts';
import type { Sql } from '../connection/pool.ts';
import { anyOf, notIndexable } from '../ids.ts';
import { inLedger } from '../incidents/failures.ts';
import { CLASS, changedSince, WAITS_IN_QUEUE_SECONDS } from '../outbox/outbox.ts';
import { isOpen, seconds } from '../predicates.ts';
import { recordset } from '../sql.ts';

export interface AttemptRecord {
  readonly deliveryId: string;
  readonly webhookId: number;
  readonly number: number;
  /** The claim token of the owner that made it. */
  readonly owner: string;
  readonly generation: number;
  readonly outcome: RecordedOutcome;
  readonly finishedAt: Date;
  readonly durationMs: number;
  /** null if no answer arrived. */
  readonly status: number | null;
  /** Host and outcome, never a path; null after a success. */
  readonly error: string | null;
  readonly responseExcerpt: string | null;
  /** null after a success, or if no attempt is left. */
  readonly nextAttemptAt: Date | null;
  /** How late it began because of an outage, in milliseconds. */
  readonly lateMs: number;
  /** No attempt is left because of an outage. */
  readonly windowLost: boolean;
  /** So few attempts are left that the e-shop has to be warned. */
  readonly lastCall: boolean;
  /** How the delivery goes on in the queue; null: its workflow made the attempt. */
  readonly plan: QueuePlan | null;
}

/**
 * How a delivery goes on in the queue after an attempt. It is written with the result, so that a retry is never
 * claimed before its time.
 */
export interface QueuePlan {
  /** Its claim token: nothing is planned for a delivery that another process has claimed since. */
  readonly claimId: string;
  /**
   * `start`: this process starts its workflow now, and keeps the claim for that; `unstarted`: it waits in the queue,
   * for its next attempt or for its workflow; `none`: it gets no workflow.
   */
  readonly workflow: 'start' | 'unstarted' | 'none';
  /** The policy's first wait: if the webhook has changed since, the next attempt is due no later than that. */
  readonly firstWaitMs: number;
}

/** A delivery after the result of its attempt was recorded. */
export interface Recorded {
  readonly state: StoredState;
  /** Sooner than planned if its webhook has changed since. */
  readonly nextAttemptAt: Date | null;
}

type Column = Exclude<keyof AttemptRecord, 'lastCall' | 'plan'> | keyof QueuePlan;

/** The parts of a record and its plan that the statement reads. */
const columns: Readonly<Record<Column, string>> = {
  deliveryId: 'uuid',
  webhookId: 'int',
  number: 'int',
  owner: 'uuid',
  generation: 'int',
  outcome: 'text',
  finishedAt: 'timestamptz',
  durationMs: 'int',
  status: 'int',
  error: 'text',
  responseExcerpt: 'text',
  nextAttemptAt: 'timestamptz',
  lateMs: 'bigint',
  windowLost: 'boolean',
  claimId: 'uuid',
  workflow: 'text',
  firstWaitMs: 'float8',
};

/**
 * Records the results of attempts and their consequences in one statement. The first recorded result stays, except
 * that a success replaces a failure: of two requests made under one number by mistake, the accepted one counts. For
 * an attempt that has another owner by now, only a success is recorded: that owner has it under way.
 * @returns by delivery; missing if nothing changed
 */
export async function recordAttempts(
  sql: Sql,
  records: readonly AttemptRecord[],
): Promise<ReadonlyMap<string, Recorded>> {
  const ids = records.map(({ deliveryId }) => deliveryId);
  const rows = await sql<(Recorded & { id: string })[]>`
    with finished as (${finishAttempts(sql, ids, records)}),
    -- Without statistics the planner expects one row from a CTE that writes, and would look up all the ids again for
    -- each. From a series of unknown length it expects a thousand rows; behind a pooler a parameter is known.
    recorded as materialized (
      select finished.* from finished, generate_series(1, (select 1))),
    changed as (${changeDeliveries(sql, ids)})
    ${inLedger(sql, records)}
    select id, state, next as next_attempt_at from changed`;
  return new Map(rows.map(({ id, ...recorded }) => [id, recorded]));
}

/** Writes the results that count to their attempts. Returns these records, with the time of the `next` attempt. */
function finishAttempts(sql: Sql, ids: readonly string[], records: readonly AttemptRecord[]) {
  const json = JSON.stringify(records.map(({ plan, ...record }) => ({ ...record, ...plan })));
  return sql`
    update attempts a set
      finished_at = r.finished_at,
      outcome = r.outcome,
      duration_ms = r.duration_ms,
      status = r.status,
      error = r.error,
      response_excerpt = r.response_excerpt,
      next_attempt_at = ${nextAfter(sql)}
    from ${recordset(sql, json, 'r', columns)}
    where a.delivery_id = r.delivery_id
      and a.number = r.number
      and ${anyOf(sql, sql`a.delivery_id`, ids)}
      and ${mayFinish(sql)}
    returning r.*, a.next_attempt_at as next`;
}

/** An attempt `a` may still get the result of a record `r`. */
const mayFinish = (sql: Sql) => sql`(
    a.finished_at is null and a.owner = r.owner
    or r.outcome = 'success' and a.outcome is distinct from 'success')`;

/** When the attempt after a record `r` is due: sooner than planned if its webhook has changed since. */
const nextAfter = (sql: Sql) => sql`
    case
      when r.claim_id is not null
        and r.next_attempt_at is not null
        and (select ${changedSince(sql, 'w', sql`r.generation`)} from webhooks w where w.id = r.webhook_id)
      then least(r.next_attempt_at, r.finished_at + make_interval(secs => r.first_wait_ms / 1000))
      else r.next_attempt_at
    end`;

/** Continues each delivery after its recorded attempt, if it is still open: it is delivered, or retried. */
function changeDeliveries(sql: Sql, ids: readonly string[]) {
  // Never null. The plan is needed even if the lease is over and the delivery has not been claimed since.
  const isPlanned = sql`(f.claim_id is not null
    and d.dispatched_at is null
    and coalesce(d.claim_id = f.claim_id or d.claimed_until < now(), true))`;
  const keepsClaim = sql`(not ${isPlanned} or f.workflow = 'start')`;
  // If an operator has stopped the delivery since, its workflow decides at once.
  const isSoon = sql`(d.operator_stop is null
    and f.next <= f.finished_at + ${seconds(sql, WAITS_IN_QUEUE_SECONDS)})`;
  const nextClass = sql`case
    when f.outcome = 'success' then ${CLASS.delivered}::smallint
    when ${isSoon} then ${CLASS.retry}::smallint
    else ${CLASS.undelivered}::smallint end`;
  const dueAt = sql`case when f.outcome <> 'success' and ${isSoon} then f.next else now() end`;
  return sql`
    update deliveries d set
      state = case when f.outcome = 'success' then 'delivered' else 'retrying' end,
      attempts_made = greatest(d.attempts_made, f.number),
      last_attempt_at = f.finished_at,
      last_status = f.status,
      last_error = f.error,
      last_generation = f.generation,
      next_attempt_at = f.next,
      late_ms = d.late_ms + f.late_ms,
      window_lost = f.window_lost,
      finished_at = case when f.outcome = 'success' then f.finished_at end,
      class = case when ${isPlanned} then ${nextClass} else d.class end,
      due_at = case when ${isPlanned} then ${dueAt} else d.due_at end,
      claimed_until = case when ${keepsClaim} then d.claimed_until end,
      claim_id = case when ${keepsClaim} then d.claim_id end,
      dispatched_at = case when ${isPlanned} and f.workflow = 'none' then now() else d.dispatched_at end
    from recorded f
    where d.id = f.delivery_id
      and ${anyOf(sql, sql`d.id`, ids)}
      and ${notIndexable(sql, isOpen(sql))}
    returning d.id, d.state, d.webhook_id, f.generation, f.finished_at as at, f.error, f.next`;
}
