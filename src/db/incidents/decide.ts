/**
 * Decides which e-shops to warn, or to notify that a webhook has recovered, and compacts the ledger. One process at
 * a time, so that no incident causes two warnings.
 */
import type { WarningTimes } from '../../domain/incident.ts';
import { DECISION_LOCK } from '../advisory-locks.ts';
import type { Pool, Sql } from '../connection/pool.ts';
import {
  addRecoveryNotices,
  addWarningNotices,
  isOwnWarning,
  unhealthyByOneDelivery,
} from '../notices/decide.ts';
import { joinSuccessor } from '../outbox/ordering.ts';
import { isPaused, makesAttempts, movedByPauses } from '../pauses.ts';
import { isOpen, seconds } from '../predicates.ts';
import { transaction } from '../transaction.ts';
import { joinFailures } from './failures.ts';

/** How long a success is kept, in seconds: a failure that came earlier may be recorded later. */
const SUCCESS_KEPT_S = 60;

/**
 * Decides which e-shops to warn, or to notify that a webhook has recovered, and compacts the ledger; does nothing
 * while another process does it.
 * @param terms null: no warnings
 * @returns how many warnings and notices were decided
 */
export async function decideWarnings(sql: Pool, terms: WarningTimes | null): Promise<number> {
  // Nothing has failed or been accepted recently, so there is nothing to decide.
  const any = await sql`(select from failures limit 1) union all (${unhealthyByOneDelivery(sql)} limit 1)`;
  if (any.length === 0) return 0;
  return await transaction(sql, async (tx) => {
    const [turn] = await tx<{ mine: boolean }[]>`select pg_try_advisory_xact_lock(${DECISION_LOCK}) as mine`;
    if (turn?.mine !== true) return 0;
    if (terms !== null) await closeFalseIncidents(tx, terms);
    const warned =
      terms === null ? [] : [...(await warnOfLastRetries(tx, terms)), ...(await warnOfIncidents(tx, terms))];
    const ids = warned.map(({ id }) => id);
    await addWarningNotices(tx, ids);
    const recovered = await addRecoveryNotices(tx);
    await compactLedger(tx);
    return ids.length + recovered;
  });
}

/** Webhooks `w` of e-shops `s` that want warnings, each with its incident `i`. */
const wantsNotices = (sql: Sql) =>
  sql`webhooks w join eshops s on s.id = w.eshop_id and s.warning_mails ${joinFailures(sql)}`;
/** Of these webhooks, the ones that have failed recently. */
const failing = (sql: Sql) => sql`w.id in (select webhook_id from failures)`;

/** Whether there has been no warning of a webhook `w` since a time. */
const unwarnedSince = (sql: Sql, time: ReturnType<Sql>) => sql`
  not exists (
    select from notices x
    where x.webhook_id = w.id and ${isOwnWarning(sql)} and x.generation = w.generation
      and x.outcome is distinct from 'dropped' and x.at >= ${time})`;

/** Incidents that have lasted long enough, and have caused no warning yet. */
const due = (sql: Sql, { patienceMs }: WarningTimes) => sql`
  ${failing(sql)}
  and ${isPaused(sql, 'w')} is not true
  and ${movedByPauses(sql, 'w', sql`i.since`)} <= now() - ${seconds(sql, patienceMs / 1_000)}
  and ${unwarnedSince(sql, sql`i.since`)}`;

/** A delivery accepted during an incident counts only if it was created at most this long before the incident. */
const MAX_DELIVERY_AGE = '3 days';

/** The lowest id of a time. */
const idAt = (sql: Sql, time: ReturnType<Sql>) =>
  sql`(lpad(to_hex((extract(epoch from ${time}) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid`;

/** Ends false incidents: a success recorded at the same moment as a failure may not have seen it. */
async function closeFalseIncidents(tx: Sql, terms: WarningTimes): Promise<void> {
  await tx`
    insert into failures (webhook_id, generation, failures, since, until)
    select w.id, w.generation, 0, a.at, a.at
    from ${wantsNotices(tx)}
    cross join lateral (
      select max(d.finished_at) as at from deliveries d
      where d.webhook_id = w.id and d.id >= ${idAt(tx, tx`i.since - ${MAX_DELIVERY_AGE}::interval`)}
        and d.state = 'delivered' and d.last_generation = w.generation and d.finished_at > i.since) a
    where ${due(tx, terms)} and a.at is not null`;
}

/** One warning for each webhook with a delivery on its last retries, at most one in the time before deactivation. */
async function warnOfLastRetries(tx: Sql, { leadMs }: WarningTimes) {
  return await tx<{ id: string }[]>`
    insert into notices (eshop_id, webhook_id, kind, generation, delivery_id, recipient)
    select distinct on (w.id) w.eshop_id, w.id, 'warning', w.generation, d.id, 'email'
    from ${wantsNotices(tx)}
    join failures f on f.webhook_id = w.id and f.generation = w.generation and f.last_call is not null
    ${joinSuccessor(tx, tx`f.last_call`)}
    where ${isOpen(tx)} and d.operator_stop is null
      and ${failing(tx)} and ${makesAttempts(tx, 'w')} and w.deleted_at is null
      and ${unwarnedSince(tx, tx`least(now() - ${seconds(tx, leadMs / 1_000)}, i.since)`)}
    order by w.id, d.id
    returning id`;
}

/** One warning for each incident that has lasted long enough. */
async function warnOfIncidents(tx: Sql, terms: WarningTimes) {
  return await tx<{ id: string }[]>`
    insert into notices (eshop_id, webhook_id, kind, generation, recipient)
    select w.eshop_id, w.id, 'warning', w.generation, 'email' from ${wantsNotices(tx)} where ${due(tx, terms)}
    returning id`;
}

const PAGE = 10_000;
/**
 * How long a delivery with few retries left is kept, in seconds, counted from the end of a pause if there was one: it
 * may be recorded just after a decision, and nobody is warned during a pause.
 */
const LAST_CALL_S = 30;

/** Compacts the rows of each webhook to the lasting failures of its current generation and its last success. */
async function compactLedger(tx: Sql): Promise<void> {
  const long = tx`now() - ${seconds(tx, SUCCESS_KEPT_S)}`;
  const recent = tx`t.last_call is not null and greatest(t.until, w.paused_until) > now() - ${seconds(tx, LAST_CALL_S)}`;
  await tx`
    with scattered as (
      select f.webhook_id from failures f join webhooks w on w.id = f.webhook_id
      group by f.webhook_id
      having count(*) > 1
        or bool_or(f.failures = 0 and f.until < ${long} or f.generation <> w.generation or w.deleted_at is not null)),
    taken as (
      delete from failures where ctid = any(array(
        select ctid from failures where webhook_id in (select webhook_id from scattered) limit ${PAGE}))
      returning *),
    accepted as (
      select webhook_id, generation, max(until) as at from taken where failures = 0 group by 1, 2),
    present as (
      select t.*, a.at is null or t.until > a.at as lasts, ${recent} as called
      from taken t
      join webhooks w on w.id = t.webhook_id and w.generation = t.generation and w.deleted_at is null
      left join accepted a on a.webhook_id = t.webhook_id and a.generation = t.generation)
    insert into failures (webhook_id, generation, failures, since, until, last_error, last_call)
    select webhook_id, generation, sum(failures), min(since), max(until), (array_agg(last_error order by until desc))[1],
           (array_agg(last_call) filter (where called))[1]
    from present where failures > 0 and (lasts or called) group by webhook_id, generation, lasts
    union all
    -- Failures before it may be beyond the page.
    select webhook_id, generation, 0, max(until), max(until), null, null
    from present where failures = 0 group by webhook_id, generation
    having max(until) > ${long} or (select count(*) from taken) = ${PAGE}`;
}
