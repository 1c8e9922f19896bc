/**
 * The ledger of failures: how long a webhook has been failing (docs/decisions/0080). Rows are only added, so that
 * hundreds of attempts per second never wait for a shared row.
 */
import type postgres from 'postgres';
import type { RecordedOutcome } from '../../domain/delivery-state.ts';
import type { Sql } from '../connection/pool.ts';
import { movedByPauses } from '../pauses.ts';
import { isOpen } from '../predicates.ts';

interface Result {
  readonly deliveryId: string;
  readonly outcome: RecordedOutcome;
  readonly lastCall: boolean;
}

/**
 * Further parts of the statement that records results: adds failures, and the success that ends an incident.
 * @param results of the statement, whose part `changed` has `id`, `state`, `webhook_id`, `generation`, `at` and
 * `error`
 */
export function inLedger(sql: Sql, results: readonly Result[]) {
  const accepted = results.some(({ outcome }) => outcome === 'success');
  const failed = results.some(({ outcome }) => outcome !== 'success');
  const lastCalls = results.filter(({ lastCall }) => lastCall).map(({ deliveryId }) => deliveryId);
  return sql`${accepted ? successes(sql) : sql``}${failed ? failures(sql, lastCalls) : sql``}`;
}

function successes(sql: Sql) {
  return sql`, accepted as (
      insert into failures (webhook_id, generation, failures, since, until)
      select c.webhook_id, c.generation, 0, c.at, c.at
      from (select webhook_id, generation, max(at) as at from changed where state = 'delivered' group by 1, 2) c
      where (
        select greatest(max(until) filter (where failures > 0), ${knownSince(sql)})
          > coalesce(max(until) filter (where failures = 0), '-infinity')
        from failures f where f.webhook_id = c.webhook_id and f.generation = c.generation))`;
}

/** Since when the e-shop has known that it fails: then a success counts even without a failure in this generation. */
const knownSince = (sql: Sql) => sql`
  (select since from unhealthy_webhooks g where g.webhook_id = c.webhook_id and g.delivery_id is null)`;

function failures(sql: Sql, lastCalls: readonly string[]) {
  const lastCall = sql`c.id = any(${[...lastCalls]}::uuid[])`;
  return sql`, failed as (
      insert into failures (webhook_id, generation, failures, since, until, last_error, last_call)
      select c.webhook_id, c.generation, count(*), min(c.at), max(c.at), (array_agg(c.error order by c.at desc))[1],
        ${lastCalls.length === 0 ? sql`null` : sql`(array_agg(c.id) filter (where ${lastCall}))[1]`}
      from changed c
      where c.state <> 'delivered' and not exists (
        select from changed a
        where a.state = 'delivered' and a.webhook_id = c.webhook_id and a.generation = c.generation and a.at > c.at)
      group by 1, 2)`;
}

/** How many of the oldest deliveries are read to tell when the first will have exhausted its retries. */
const OLDEST_READ = 50;

export const incidentColumns = (sql: Sql) => sql`
  i.since as incident_since, i.failures as incident_failures, i.last_error as incident_error, r.retries as incident_retries`;

/** Joins webhooks `w` with the failures of each since its last success, as `i`. */
export function joinFailures(sql: Sql) {
  return sql`
    left join lateral (
      select min(f.since) as since, sum(f.failures)::integer as failures,
             (array_agg(f.last_error order by f.until desc))[1] as last_error
      from failures f
      where f.webhook_id = w.id and f.generation = w.generation and w.active and w.deleted_at is null and f.failures > 0
        and f.until > coalesce((
          select max(s.until) from failures s
          where s.webhook_id = w.id and s.generation = w.generation and s.failures = 0), '-infinity')) i on true`;
}

/** Joins webhooks `w` with the incident of each, as `i`, and the deliveries under retry then, as `r`. */
export function joinIncident(sql: Sql) {
  const ms = (column: postgres.Fragment) => sql`(extract(epoch from ${column}) * 1000)::float8`;
  // A pending delivery took over the count of the one that it superseded, and has its turn now at the earliest. Its
  // window gets back the wait.
  const nextAttemptAt = sql`case
    when o.next_attempt_at is not null or o.state = 'pending'
      then greatest(coalesce(o.next_attempt_at, now()), w.paused_until) end`;
  const windowStartedAt = sql`
    ${movedByPauses(sql, 'w', sql`o.window_started_at`)}
      + case when o.state = 'pending' then now() - o.due_at else '0 s' end`;
  return sql`
    ${joinFailures(sql)}
    left join lateral (
      select json_agg(json_build_object(
               'deliveryId', o.id,
               'attemptsMade', o.attempts_made,
               'nextAttemptAt', ${ms(nextAttemptAt)},
               'windowStartedAt', ${ms(windowStartedAt)},
               'lastAttemptAt', ${ms(sql`o.last_attempt_at`)})) as retries
      from (
        select d.* from deliveries d
        where i.since is not null and d.webhook_id = w.id and ${isOpen(sql)} and d.attempts_made > 0
          and not d.window_lost and d.operator_stop is null
          and d.window_started_at is not null and d.last_attempt_at is not null
        order by d.id limit ${OLDEST_READ}) o) r on true`;
}
