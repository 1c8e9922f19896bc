/**
 * Requests, reads, pauses, resumes and cancels recoveries. A change that matters to the workflow raises the row's
 * version, which the relay passes on.
 */
import { v7 as uuidv7 } from 'uuid';
import {
  isUnderWay,
  type MeasuredPace,
  type RecoveryAction,
  type RecoveryActor,
  type RecoveryState,
} from '../../domain/recovery.ts';
import type { StoredRecovery } from '../../domain/recovery-progress.ts';
import { counted, firstRow, oneRow, type Pool, type Sql } from '../connection/pool.ts';
import { excludedFromMark, oldestBlocker } from '../maintenance/low-water-mark.ts';
import { waitsForTurn } from '../outbox/ordering.ts';
import { isPaused, makesAttempts } from '../pauses.ts';
import { isLost } from '../predicates.ts';
import { type Database, transaction, wakeRelayAfter } from '../transaction.ts';
import { countLostEvents, type LostEventCount, type Search } from './lost-events.ts';

/** A recovery as stored, with its progress. */
export interface RecoveryRow extends Search, StoredRecovery {
  readonly id: string;
  readonly webhookDeleted: boolean;
  readonly firstAt: Date | null;
  readonly lastAt: Date | null;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
}

/** The columns of a {@link RecoveryRow}; the deliveries not delivered are few, and are counted. */
function selectRecoveries(sql: Sql) {
  return sql`
    with oldest as materialized (${oldestBlocker(sql)})
    select r.id, r.eshop_id, r.webhook_id, r.since, r.until, r.include, r.state, r.by, r.comment,
           not w.active as webhook_inactive, w.deleted_at is not null as webhook_deleted,
           case when ${isPaused(sql, 'w')} then w.paused_until end as webhook_paused_until,
           r.found, r.first_at, r.last_at, r.exhausted, r.created, d.pending, d.blocked, d.retrying, d.failed, d.superseded,
           d.last_retry_at, r.rate, r.created_at, r.finished_at, clock_timestamp() as now,
           awaited.pid as awaited_pid, awaited.application as awaited_application, awaited.since as awaited_since
    from recoveries r join webhooks w on w.id = r.webhook_id
    cross join lateral (
      select count(*) filter (where d.state = 'pending')::int as pending,
             count(*) filter (where ${waitsForTurn(sql, 'd')})::int as blocked,
             count(*) filter (where d.state = 'retrying')::int as retrying,
             count(*) filter (where ${isLost(sql)})::int as failed,
             count(*) filter (where d.state = 'superseded')::int as superseded,
             max(d.next_attempt_at) filter (where d.state = 'retrying') as last_retry_at
      from deliveries d where d.recovery_id = r.id and d.state <> 'delivered') d
    -- Only its end waits: events beyond the low-water mark are redelivered, and looked for again.
    left join oldest awaited on r.state = 'running' and not r.exhausted and r.stepped_at is not null and ${makesAttempts(sql, 'w')}
      and d.pending + d.retrying = 0 and awaited.mark < r.until`;
}

export async function findRecovery(
  sql: Sql,
  key: { readonly eshopId: number; readonly webhookId: number; readonly recoveryId: string },
): Promise<RecoveryRow | null> {
  return await firstRow(sql<RecoveryRow[]>`
    ${selectRecoveries(sql)}
    where r.id = ${key.recoveryId} and r.webhook_id = ${key.webhookId}::bigint and r.eshop_id = ${key.eshopId}
      and w.deleted_at is null`);
}

export async function readRecovery(sql: Sql, recoveryId: string): Promise<RecoveryRow | null> {
  return await firstRow(sql<RecoveryRow[]>`${selectRecoveries(sql)} where r.id = ${recoveryId}`);
}

/** The recoveries of all e-shops that are under way, the oldest first. */
export async function listRecoveriesUnderWay(sql: Sql): Promise<RecoveryRow[]> {
  return await sql<RecoveryRow[]>`
    ${selectRecoveries(sql)} where r.state in ('running', 'paused') order by r.id`;
}

/** The recoveries of one webhook or of all, in any state, the newest first. */
export async function listRecoveries(sql: Sql, webhookId: number | null, limit: number, offset = 0) {
  return await sql<RecoveryRow[]>`
    ${selectRecoveries(sql)}
    ${webhookId === null ? sql`` : sql`where r.webhook_id = ${webhookId}`}
    order by r.id desc limit ${limit} offset ${offset}`;
}

/** How many {@link listRecoveries} finds for one webhook. */
export async function countRecoveries(sql: Sql, webhookId: number): Promise<number> {
  return await counted(sql<{ count: number }[]>`
    select count(*)::int as count from recoveries where webhook_id = ${webhookId}`);
}

interface RecoveryInput extends Omit<Search, 'until'> {
  /** null: until now. */
  readonly until: Date | null;
}

/** The recovery that a request leads to, or another one that blocks it. `known`: it was requested before. */
type RecoveryResult =
  | {
      readonly kind: 'begun' | 'known';
      readonly recoveryId: string;
      readonly found: LostEventCount;
      readonly until: Date;
    }
  | { readonly kind: 'busy'; readonly recoveryId: string };

/**
 * The search ends now at the latest: future events are not lost. Within the transaction of an `Idempotency-Key` the
 * count may last for minutes: it writes no event and no delivery, so the cursors of all e-shops need not wait for it.
 */
async function searchOf(sql: Sql, input: RecoveryInput): Promise<Search> {
  const row = await oneRow(sql<{ until: Date }[]>`
    select least(${input.until}::timestamptz, now()) as until, ${excludedFromMark(sql, 'waybill count')}`);
  return { ...input, until: row.until };
}

/** Only counts the events that a recovery would redeliver. */
export async function countRecovery(sql: Sql, input: RecoveryInput) {
  const search = await searchOf(sql, input);
  const found = await countLostEvents(sql, search);
  return { kind: 'counted', recoveryId: null, found, until: search.until } as const;
}

/**
 * Begins a recovery; while it is under way, the same request returns the same recovery. Another recovery that is
 * still looking for lost events blocks it.
 */
export async function beginRecovery(sql: Database, input: RecoveryInput): Promise<RecoveryResult> {
  const before = await findOpenRecovery(sql, input);
  if (before !== null) return before;
  // Counted before anything is locked: with very many events it takes a while.
  const search = await searchOf(sql, input);
  const found = await countLostEvents(sql, search);
  const { eshopId, webhookId, since, include } = input;
  return await transaction(sql, async (tx) => {
    // Requests for recoveries of one webhook wait for each other.
    await tx`select 1 from webhooks where id = ${webhookId} for no key update`;
    const concurrent = await findOpenRecovery(tx, input);
    if (concurrent !== null) return concurrent;
    const recoveryId = uuidv7();
    await tx`
      insert into recoveries (id, eshop_id, webhook_id, since, until, asked_until, include, found, first_at, last_at)
      values (${recoveryId}, ${eshopId}, ${webhookId}, ${since}, ${search.until}, ${input.until}, ${[...include]}::text[],
              ${found.count}, ${found.firstAt}, ${found.lastAt})`;
    wakeRelayAfter(tx, 'recoveries');
    return { kind: 'begun', recoveryId, until: search.until, found };
  });
}

/** The same recovery, or one that blocks it; null if there is neither. */
async function findOpenRecovery(
  sql: Sql,
  { webhookId, since, until, include }: RecoveryInput,
): Promise<RecoveryResult | null> {
  const open = await sql<(LostEventCount & { id: string; until: Date; same: boolean; exhausted: boolean })[]>`
    select id, until, exhausted, found as count, first_at, last_at,
           since = ${since} and asked_until is not distinct from ${until}
             and include @> ${[...include]}::text[] and include <@ ${[...include]}::text[] as same
    from recoveries where webhook_id = ${webhookId} and state in ('running', 'paused') order by id desc`;
  const existing = open.find(({ same }) => same);
  if (existing !== undefined) {
    const { id: recoveryId, until: ends, count, firstAt, lastAt } = existing;
    return { kind: 'known', recoveryId, until: ends, found: { count, firstAt, lastAt } };
  }
  const busy = open.find(({ exhausted }) => !exhausted);
  return busy === undefined ? null : { kind: 'busy', recoveryId: busy.id };
}

const STATE_AFTER = { pause: 'paused', resume: 'running', cancel: 'canceled' } as const;

/** Pauses, resumes or cancels a recovery, once. @returns false if it has ended otherwise, or there is none */
export async function controlRecovery(
  sql: Pool,
  recoveryId: string,
  action: RecoveryAction,
  { by, comment = null }: { readonly by: RecoveryActor; readonly comment?: string | null },
): Promise<boolean> {
  return await transaction(sql, async (tx) => {
    const [before] = await tx<{ state: RecoveryState }[]>`
      select state from recoveries where id = ${recoveryId} for update`;
    const state = STATE_AFTER[action];
    if (before?.state === state) return true;
    if (before === undefined || !isUnderWay(before.state)) return false;
    await tx`
      update recoveries set state = ${state}, version = version + 1, check_at = now(),
        by = ${action === 'resume' ? null : by}, comment = ${action === 'resume' ? null : comment},
        finished_at = ${action === 'cancel' ? tx`now()` : null}
      where id = ${recoveryId}`;
    wakeRelayAfter(tx, 'recoveries');
    return true;
  });
}

/** The number of deliveries by which a receiver is judged. */
const MEASURED = 100;

export async function measuredPace(sql: Sql, webhookId: number): Promise<MeasuredPace> {
  return await oneRow(sql<MeasuredPace[]>`
    select (select rate from recoveries where webhook_id = ${webhookId} and rate > 0 order by id desc limit 1) as rate,
           (select avg(a.duration_ms)::float8 from (
              select id, attempts_made from deliveries
              where webhook_id = ${webhookId} order by id desc limit ${MEASURED}) d
            join attempts a on a.delivery_id = d.id and a.number = d.attempts_made
            where a.outcome = 'success') as mean_ms`);
}
