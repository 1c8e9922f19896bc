/**
 * In order, per record (docs/interface.md, D16). A group is what goes to one receiver (scheme, host, port) of one record by webhooks
 * with an order. What is claimed behind an older delivery of its group waits in a class of its own, `QUEUE.inOrder`; when a delivery
 * ends, the next one of its group is released.
 *
 * Both sides write first and look then, in statements of their own: of one that is set aside while the one before it ends, either
 * side sees the other. Should a process die in between, the reconciler looks once more.
 */
import type postgres from 'postgres';
import { type EventType, eventTypes } from '../../domain/event-types.ts';

import { anyOf } from '../ids.ts';
import type { Pool, Sql } from '../pool.ts';
import { notifierOf } from './notify.ts';
import { leaseEnd, QUEUE, type QueuedDelivery, queuedColumns } from './outbox.ts';

/** Kinds of records by type of event, as JSON. */
const KINDS = JSON.stringify(
  Object.fromEntries(Object.entries(eventTypes).map(([type, { entity }]) => [type, entity])),
);

/** The kind of the record that a delivery is about. */
const kindOf = (sql: Sql, alias: string) => sql`(${KINDS}::text::jsonb ->> ${sql(alias)}.event_type)`;

/** Asked for once more by an e-shop: it stands outside. */
const outside = (sql: Sql, alias: string) => sql`
  exists (select from redeliveries r where r.delivery_id = ${sql(alias)}.id and r.recovery_id is null)`;

/** `one` and `other` are of the same record, and of the same recovery or of none. */
const sameRecord = (sql: Sql, one: string, other: string) => sql`
  ${sql(one)}.eshop_id = ${sql(other)}.eshop_id and ${sql(one)}.entity_id = ${sql(other)}.entity_id
  and ${kindOf(sql, one)} = ${kindOf(sql, other)}
  and ${sql(one)}.recovery_id is not distinct from ${sql(other)}.recovery_id and not ${outside(sql, one)}`;

/** Older deliveries `o` of the group of `d`, to the webhook `w`, that are open. What an inactive webhook holds stops no other. */
export const openAhead = (sql: Sql) => sql`
  from deliveries o join webhooks ow on ow.id = o.webhook_id
  where o.state in ('pending', 'retrying') and o.sequence < d.sequence and ${sameRecord(sql, 'o', 'd')}
    and ow.receiver = w.receiver and ow.active and ow.deleted_at is null and ow.ordering <> 'none'`;

/** Older deliveries of the group of what is written now, of an event `f` at the webhook `w`, that are open. */
export const openAheadOfNew = (sql: Sql) => sql`
  from (select w.eshop_id, f.type as event_type, f.entity_id, f.sequence, null::uuid as recovery_id, null::uuid as id) d, lateral (
    select ${openAhead(sql)}) ahead`;

/** Newer ones `n` of the record of `d` at the webhook of `d` that are open. */
const openBehind = (sql: Sql) => sql`
  from deliveries n
  where n.webhook_id = d.webhook_id and n.sequence > d.sequence and n.state in ('pending', 'retrying') and ${sameRecord(sql, 'n', 'd')}`;

/**
 * Whether `d`, to the webhook `w`, may have to wait or to end: `keepOrder` decides. Where it need not it never will, since what is
 * older than it was committed before it.
 */
export const mayNotGo = (sql: Sql) => sql`
  (w.ordering <> 'none' and (
    not w.active or exists (select ${openAhead(sql)}) or (w.ordering = 'latest' and exists (select ${openBehind(sql)}))))`;

/** It waits for its turn in its record. */
const waits = (sql: Sql, alias: string) =>
  sql`${sql(alias)}.queue = ${QUEUE.inOrder} and ${sql(alias)}.dispatched_at is null and ${sql(alias)}.state = 'pending'`;

/** Never attempted, nor about to be: it waits, or it is among those claimed. */
const untouched = (sql: Sql, alias: string) =>
  sql`${sql(alias)}.state = 'pending' and ${sql(alias)}.window_started_at is null`;

/** Of which records. */
export type OrderScope =
  /** Of deliveries; with their e-shop, where all are of one. */
  { readonly records: readonly string[]; readonly ofEshop?: number } | { readonly eshopId: number } | 'all';

/**
 * Keeps the order among what was just claimed: a newer event takes the place of an older one where only the latest counts, and what is
 * behind another is set aside.
 * @returns those that may go on, and the types of those that ended
 */
export async function keepOrder(
  sql: Pool,
  claimed: readonly QueuedDelivery[],
): Promise<{ readonly ready: readonly QueuedDelivery[]; readonly superseded: readonly EventType[] }> {
  const ids = claimed.filter(({ mayNotGo }) => mayNotGo).map(({ id }) => id);
  if (ids.length === 0) return { ready: claimed, superseded: [] };
  const superseded = await supersede(sql, sql`deliveries d`, sql`${anyOf(sql, sql`d.id`, ids)}`);
  const aside = await sql<{ id: string }[]>`
    update deliveries d set queue = ${QUEUE.inOrder}, claimed_until = null, batch_id = null
    from webhooks w
    where ${anyOf(sql, sql`d.id`, ids)} and w.id = d.webhook_id and ${untouched(sql, 'd')} and d.dispatched_at is null
      and w.ordering <> 'none' and not ${outside(sql, 'd')} and d.operator_stop is distinct from 'giveUp'
      and (not w.active or exists (select ${openAhead(sql)}))
    returning d.id`;
  const gone = new Set([...superseded, ...aside].map(({ id }) => id));
  const more = gone.size > 0 ? await settleOrder(sql, { records: [...gone] }) : [];
  return { ready: claimed.filter(({ id }) => !gone.has(id)), superseded: [...typesOf(superseded), ...more] };
}

/**
 * Releases what nothing is in front of any more, and ends what a newer event has replaced meanwhile. This process makes the first
 * attempts of what it releases while nobody else waits.
 * @param replaced whether to look for what was replaced; what is not seen here is when it is claimed
 * @returns the types of those that ended
 */
export async function settleOrder(
  sql: Pool,
  scope: OrderScope,
  replaced = true,
): Promise<readonly EventType[]> {
  const notifier = notifierOf(sql);
  const waiting = waitingWithin(sql, scope);
  const superseded = replaced ? await supersede(sql, waiting, sql`${waits(sql, 'd')}`) : [];
  const ofEshop = scope !== 'all' && 'records' in scope ? scope.ofEshop : undefined;
  const claims = ofEshop !== undefined && notifier.hasRoom(ofEshop);
  const released = await sql<(QueuedDelivery & { readonly claimed: boolean })[]>`
    update deliveries s set due_at = now(),
      queue = case when s.recovery_id is null then ${QUEUE.fresh}::smallint else ${QUEUE.recovered}::smallint end,
      -- It goes on where the one before it was.
      state = case when s.attempts_made > 0 then 'retrying' else s.state end,
      next_attempt_at = case when s.attempts_made > 0 then now() else s.next_attempt_at end,
      claimed_until = case when ${claims} and s.recovery_id is null and s.attempts_made = 0 and not (
        w.ordering = 'latest' and exists (select ${openBehind(sql)})) then ${leaseEnd(sql)} end
    from (
      -- The first of each group, and all of a webhook that has no order any more.
      select distinct on (each.eshop_id, each.receiver, each.entity_id, each.kind, each.recovery_id, each.alone) each.*
      from (
        select d.*, w.receiver, w.ordering, ${kindOf(sql, 'd')} as kind, case when w.ordering = 'none' then d.id end as alone
        from ${waiting} join webhooks w on w.id = d.webhook_id
        where ${waits(sql, 'd')} and w.active) each
      order by each.eshop_id, each.receiver, each.entity_id, each.kind, each.recovery_id, each.alone, each.sequence, each.id) d
    join webhooks w on w.id = d.webhook_id
    where s.id = d.id and ${waits(sql, 's')} and (w.ordering = 'none' or not exists (select ${openAhead(sql)}))
    returning ${queuedColumns(sql, 's')}, false as may_not_go, s.claimed_until is not null as claimed`;
  const taken = released.flatMap(({ claimed, ...delivery }) => (claimed ? [delivery] : []));
  notifier.notify(released.length > taken.length ? ['fresh', 'recovered'] : [], taken);
  return typesOf(superseded);
}

/** Deliveries `d` among which those are that wait, as SQL. */
function waitingWithin(sql: Sql, scope: OrderScope): postgres.Fragment {
  if (scope === 'all') return sql`deliveries d`;
  if ('eshopId' in scope) return sql`(select * from deliveries where eshop_id = ${scope.eshopId}) d`;
  // Record by record: without statistics the planner would read all that wait.
  return sql`
    (select distinct e.eshop_id, e.entity_id from deliveries e where ${anyOf(sql, sql`e.id`, scope.records)}) r
    cross join lateral (
      select x.* from deliveries x
      where x.eshop_id = r.eshop_id and x.entity_id = r.entity_id and ${waits(sql, 'x')} order by x.sequence offset 0) d`;
}

const typesOf = (rows: readonly Superseded[]) => rows.map(({ eventType }) => eventType);

interface Superseded {
  readonly id: string;
  readonly eventType: EventType;
}

/** Ends those that a newer event of their record at the same webhook has replaced, where only the latest counts. */
async function supersede(
  sql: Sql,
  of: postgres.Fragment,
  which: postgres.Fragment,
): Promise<readonly Superseded[]> {
  return await sql<Superseded[]>`
    update deliveries old set state = 'superseded', superseded_by = replaced.newest, finished_at = clock_timestamp(),
      next_attempt_at = null, dispatched_at = now(), claimed_until = null, batch_id = null
    from (
      select d.id, newest.id as newest from ${of} join webhooks w on w.id = d.webhook_id
      cross join lateral (
        select n.id ${openBehind(sql)} order by n.sequence desc limit 1) newest
      where ${which} and w.ordering = 'latest' and not ${outside(sql, 'd')} and d.operator_stop is distinct from 'giveUp') replaced
    where old.id = replaced.id and ${untouched(sql, 'old')} and old.dispatched_at is null
    returning old.id, old.event_type`;
}

/**
 * Ends those of these deliveries, whose next attempt is due, that a newer event has replaced where only the latest counts. The newer one
 * goes on in their place, with their count of failed attempts and their window: at once, unless others of the record come between the
 * two. None of them is under way.
 * @returns those that were ended, and the types of all that were with them
 */
export async function supersedeRetries(
  sql: Pool,
  ids: readonly string[],
): Promise<{ readonly ended: ReadonlySet<string>; readonly superseded: readonly EventType[] }> {
  if (ids.length === 0) return { ended: new Set(), superseded: [] };
  const rows = await sql<Superseded[]>`
    with replaced as (
      select d.id, newest.id as newest from deliveries d join webhooks w on w.id = d.webhook_id and w.ordering = 'latest'
      cross join lateral (
        select n.id from deliveries n
        where n.webhook_id = d.webhook_id and n.sequence > d.sequence and ${waits(sql, 'n')} and ${sameRecord(sql, 'n', 'd')}
        order by n.sequence desc limit 1 for update skip locked) newest
      where ${anyOf(sql, sql`d.id`, ids)} and d.state in ('pending', 'retrying') and not ${outside(sql, 'd')}
        and not exists (
          select from attempts a where a.delivery_id = d.id and a.finished_at is null and a.owned_until > clock_timestamp())
      for update of d),
    ended as (
      update deliveries d set state = 'superseded', superseded_by = replaced.newest, finished_at = clock_timestamp(),
        next_attempt_at = null, dispatched_at = coalesce(d.dispatched_at, now()), claimed_until = null
      from replaced where d.id = replaced.id and d.state in ('pending', 'retrying')
      returning d.*),
    taken_over as (
      update deliveries n set attempts_made = ended.attempts_made, window_started_at = ended.window_started_at,
        last_attempt_at = ended.last_attempt_at, last_status = ended.last_status, last_error = ended.last_error,
        last_generation = ended.last_generation, late_ms = ended.late_ms
      from ended where n.id = ended.superseded_by)
    select id, event_type from ended`;
  const ended = new Set(rows.map(({ id }) => id));
  const more = ended.size > 0 ? await settleOrder(sql, { records: [...ended] }) : [];
  return { ended, superseded: [...typesOf(rows), ...more] };
}

/** How many deliveries wait behind this one, in the order of its record. */
export async function countBehind(sql: Sql, deliveryId: string): Promise<number> {
  const [row] = await sql<{ behind: number }[]>`
    select count(*)::int as behind from deliveries d join webhooks w on w.id = d.webhook_id
    cross join lateral (
      select from deliveries n join webhooks nw on nw.id = n.webhook_id
      where ${waits(sql, 'n')} and n.sequence > d.sequence and ${sameRecord(sql, 'n', 'd')}
        and nw.receiver = w.receiver and nw.ordering <> 'none') n
    where d.id = ${deliveryId}`;
  return row?.behind ?? 0;
}

/** What `d`, a delivery to the webhook `w` that is not held, waits for, beside its next attempt, as JSON (docs/interface.md, L14). */
export const waitsFor = (sql: Sql) => sql`
  case when d.state = 'pending' and w.active and d.operator_stop is null then
    case
      when ${waits(sql, 'd')} then coalesce(
        (select json_build_object('reason', 'order', 'deliveryId', o.id, 'since', d.created_at, 'nextAttemptAt', o.next_attempt_at)
         ${openAhead(sql)} order by o.sequence, o.id limit 1),
        json_build_object('reason', 'order', 'since', d.created_at))
      when d.dispatched_at is null and exists (select from recoveries r where r.id = d.recovery_id and r.state = 'paused')
        then json_build_object('reason', 'pause', 'since', d.created_at)
      when d.attempts_made = 0 and d.next_attempt_at is not null
        then json_build_object('reason', 'limit', 'since', d.created_at, 'nextAttemptAt', d.next_attempt_at)
    end
  end`;
