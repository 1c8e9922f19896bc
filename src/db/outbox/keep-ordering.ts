/**
 * Keeps the ordering of each record: deliveries claimed too early go back, superseded deliveries end, and the next
 * delivery of the record may go.
 *
 * The claim and the end of a delivery each write first, then look, in separate statements: if a delivery is put back
 * while its predecessor ends, at least one of the two sides sees the other. If a process dies in between, the relay
 * looks again.
 */
import type postgres from 'postgres';
import type { EventType } from '../../domain/event-types.ts';
import type { Pool, Sql } from '../connection/pool.ts';
import type { DeliveryForAttempt } from '../deliveries/attempts.ts';
import { anyOf, notIndexable } from '../ids.ts';
import { makesAttempts, movedByPauses } from '../pauses.ts';
import { ending, hasAttemptUnderWay, isGivenUp, keepsOrdering, neverAttempted } from '../predicates.ts';
import { attemptClasses } from './notify.ts';
import { placeOf, predecessors, successors, waitsForTurn } from './ordering.ts';
import { CLASS, leaseEnd, originalClass, type QueuedDelivery, queuedColumns } from './outbox.ts';

type OrderingScope =
  /** The records of these deliveries. */
  { readonly records: readonly string[] } | { readonly eshopId: number } | 'all';

/**
 * Keeps the ordering among deliveries just claimed. A delivery behind another one goes back to wait. Where only the
 * latest event counts, a newer event supersedes an older one.
 * @returns the deliveries that may go on
 */
export async function keepOrdering(
  sql: Pool,
  claimed: readonly QueuedDelivery[],
): Promise<readonly QueuedDelivery[]> {
  const ids = claimed.filter(({ isBlocked }) => isBlocked).map(({ id }) => id);
  if (ids.length === 0) return claimed;
  const superseded = await supersede(sql, sql`deliveries d`, (alias) =>
    anyOf(sql, sql`${sql(alias)}.id`, ids),
  );
  const aside = await sql<{ id: string }[]>`
    update deliveries d set class = ${CLASS.blocked}, claimed_until = null, claim_id = null
    from webhooks w
    where ${anyOf(sql, sql`d.id`, ids)}
      and w.id = d.webhook_id
      and ${notIndexable(sql, sql`${neverAttempted(sql, 'd')} and d.dispatched_at is null`)}
      and ${keepsOrdering(sql, 'w')}
      and d.ordering_key is not null
      and not ${isGivenUp(sql)}
      and (not w.active or exists (select ${predecessors(sql, placeOf(sql))}))
    returning d.id`;
  const removed = new Set([...superseded, ...aside.map(({ id }) => id)]);
  // If this fails, the relay repairs it, and the rest of the claim goes on.
  if (removed.size > 0) await settleOrdering(sql, { records: [...removed] }).catch(() => {});
  return claimed.filter(({ id }) => !removed.has(id));
}

/**
 * Whether a delivery that was never attempted is behind others, and has to wait. With `latest` it supersedes those of
 * its webhook whose requests are over. For those of the queue, claims tell it.
 */
export async function isBehindOthers(
  sql: Sql,
  { id, attemptsMade, ordering }: Pick<DeliveryForAttempt, 'id' | 'attemptsMade' | 'ordering'>,
): Promise<boolean> {
  if (attemptsMade > 0 || ordering === 'none') return false;
  const found = await sql`
    select from deliveries d join webhooks w on w.id = d.webhook_id
    where d.id = ${id} and exists (
      select ${predecessors(sql, placeOf(sql))}
        and (w.ordering <> 'latest' or predecessor.webhook_id <> d.webhook_id
          or ${hasAttemptUnderWay(sql, 'predecessor')}))`;
  return found.length > 0;
}

/**
 * The most records per statement: hundreds of thousands may wait, and a statement may take ten seconds at most.
 * Too low: more statements.
 */
const RECORDS_AT_ONCE = 500;

/**
 * Releases deliveries that are no longer behind a predecessor, and ends those that have been superseded since. If no
 * other deliveries wait, this process makes the first attempts of the fresh deliveries that it releases.
 * @param replaced whether to look for superseded deliveries; a claim finds any that are missed here
 */
export async function settleOrdering(sql: Pool, scope: OrderingScope, replaced = true): Promise<void> {
  if (scope !== 'all' && 'records' in scope) {
    const records = sql`(
      select distinct e.eshop_id, e.ordering_key from deliveries e
      where ${anyOf(sql, sql`e.id`, scope.records)} and e.ordering_key is not null)`;
    return await settleRecords(sql, records, replaced, sql.notifier.hasRoom());
  }
  for (let page = await recordsThatWait(sql, scope); page.length > 0; ) {
    const records = sql`unnest(
      ${page.map(({ eshopId }) => eshopId)}::int[], ${page.map(({ orderingKey }) => orderingKey)}::text[])`;
    await settleRecords(sql, sql`(select * from ${records} as of (eshop_id, ordering_key))`, replaced, false);
    page = await recordsThatWait(sql, scope, page.at(-1));
  }
}

interface OrderedRecord {
  readonly eshopId: number;
  readonly orderingKey: string;
}

/** A page of the records with waiting deliveries. One step in the index finds each record. */
async function recordsThatWait(
  sql: Sql,
  scope: { readonly eshopId: number } | 'all',
  { eshopId, orderingKey }: OrderedRecord = { eshopId: 0, orderingKey: '' },
): Promise<OrderedRecord[]> {
  // A literal: with a parameter the planner would not use the index, which has only these.
  const deliveryClass = sql.unsafe(String(CLASS.blocked));
  const next = sql`
    select d.eshop_id, d.ordering_key from deliveries d
    where d.class = ${deliveryClass} and d.dispatched_at is null
    ${scope === 'all' ? sql`` : sql`and d.eshop_id = ${scope.eshopId}`}`;
  const first = sql`order by d.eshop_id, d.ordering_key limit 1`;
  return await sql<OrderedRecord[]>`
    with recursive record as (
      (${next} and (d.eshop_id, d.ordering_key) > (${eshopId}::int, ${orderingKey}::text) ${first})
      union all
      select n.* from record r cross join lateral (
        ${next} and (d.eshop_id, d.ordering_key) > (r.eshop_id, r.ordering_key) ${first}) n)
    select eshop_id, ordering_key from record limit ${RECORDS_AT_ONCE}`;
}

/**
 * @param records as SQL, each once: eshop_id, ordering_key
 * @param claims whether this process claims the deliveries that it lets go
 */
async function settleRecords(sql: Pool, records: postgres.Fragment, replaced: boolean, claims: boolean) {
  const { notifier } = sql;
  const waiting = waitingOf(sql, records);
  const place = placeOf(sql);
  if (replaced) await supersede(sql, waiting, (alias) => notIndexable(sql, waitsForTurn(sql, alias)));
  const isFresh = sql`(${originalClass(sql, 'd')} = ${CLASS.fresh} and d.attempts_made = 0)`;
  const moved = sql`(${movedByPauses(sql, 'w', sql`d.window_started_at`)})`;
  const isReplaced = sql`(w.ordering = 'latest' and exists (select ${successors(sql, place)}))`;
  // The first of each webhook (those behind older ones at others are left out below), and all of one without an
  // ordering.
  const first = sql`
    select distinct on (each.webhook_id, each.ordering_key, each.alone) each.id
    from (
      select d.*, case when not ${keepsOrdering(sql, 'w')} then d.id end as alone
      from ${waiting} join webhooks w on w.id = d.webhook_id
      where ${waitsForTurn(sql, 'd')} and (w.active or w.deleted_at is not null)) each
    order by each.webhook_id, each.ordering_key, each.alone, each.sequence`;
  const putBack = await sql<(QueuedDelivery & { readonly claimed: boolean })[]>`
    update deliveries d set
      due_at = now(),
      -- If it took over failed attempts, neither an import nor a pause of the recovery may delay its next attempt.
      class = case
        when d.attempts_made = 0 then ${originalClass(sql, 'd')}
        when d.recovery_id is null then ${CLASS.fresh}::smallint
        else ${CLASS.retry}::smallint end,
      -- It goes on where its predecessor was: neither pauses nor the wait since then use up any of its window. A pause
      -- that ends after the new start is added when the start is read.
      window_started_at = case when w.paused_until > ${moved} + (now() - d.due_at)
        then d.window_started_at else ${moved} end + (now() - d.due_at),
      state = case when d.attempts_made > 0 then 'retrying' else d.state end,
      next_attempt_at = case when d.attempts_made > 0 then now() else d.next_attempt_at end,
      claimed_until = case
        when ${claims} and ${makesAttempts(sql, 'w')} and ${isFresh} and not ${isReplaced} then ${leaseEnd(sql)} end,
      claim_id = gen_random_uuid()
    from webhooks w
    -- An array: without statistics the planner would join all deliveries.
    where w.id = d.webhook_id
      and d.id = any(array(${first}))
      and ${notIndexable(sql, waitsForTurn(sql, 'd'))}
      and (not ${keepsOrdering(sql, 'w')} or not exists (select ${predecessors(sql, place)}))
    returning ${queuedColumns(sql, 'd')}, false as is_blocked, d.claimed_until is not null as claimed`;
  const taken = putBack.flatMap(({ claimed, ...delivery }) => (claimed ? [delivery] : []));
  notifier.notify(putBack.length > taken.length ? attemptClasses : [], taken);
}

/**
 * The waiting deliveries `d` of these records, as SQL. It goes record by record: without statistics the planner would
 * read all waiting deliveries.
 */
function waitingOf(sql: Sql, records: postgres.Fragment): postgres.Fragment {
  return sql`
    ${records} r
    cross join lateral (
      select x.* from deliveries x
      where x.eshop_id = r.eshop_id and x.ordering_key = r.ordering_key and ${waitsForTurn(sql, 'x')}
      order by x.sequence offset 0) d`;
}

/**
 * Where only the latest event counts, ends deliveries that a newer event of their record at the same webhook
 * supersedes. Deliveries of a deleted webhook are left to be canceled.
 * @param which the condition of the deliveries, checked when they are read and again once they are locked: another
 * process may have released one of them in between
 */
async function supersede(sql: Pool, source: postgres.Fragment, which: (alias: string) => postgres.Fragment) {
  const rows = await sql<Superseded[]>`
    update deliveries old set
      state = 'superseded',
      superseded_by = replaced.newest,
      ${ending(sql)},
      dispatched_at = now()
    from (
      select d.id, newest.id as newest
      from ${source} join webhooks w on w.id = d.webhook_id
      cross join lateral (
        select successor.id ${successors(sql, placeOf(sql))} order by successor.sequence desc limit 1) newest
      where ${which('d')}
        and w.ordering = 'latest'
        and w.deleted_at is null
        and not ${isGivenUp(sql)}) replaced
    where old.id = replaced.id
      and ${which('old')}
      and ${notIndexable(sql, sql`${neverAttempted(sql, 'old')} and old.dispatched_at is null`)}
    returning old.id, old.event_type`;
  return reported(sql, rows);
}

export interface Superseded {
  readonly id: string;
  readonly eventType: EventType;
}

/** Reports superseded deliveries. @returns their ids */
export function reported({ notifier }: Pool, rows: readonly Superseded[]): string[] {
  const types = rows.map(({ eventType }) => eventType);
  notifier.ended(types, 'superseded');
  return rows.map(({ id }) => id);
}
