/**
 * In order, per record (docs/interface.md, D16). An ordering group is the deliveries of one record to one receiver (scheme, host,
 * port), of webhooks with an order. A delivery claimed behind an older one of its group waits in a class of its own, `CLASS.ordered`;
 * when a delivery ends, the next one of its group may go (`keep-order.ts`).
 */
import { eventTypes } from '../../domain/event-types.ts';
import type { Sql } from '../pool.ts';
import { CLASS } from './outbox.ts';

/** Kinds of record by event type, as JSON. */
const KINDS = JSON.stringify(
  Object.fromEntries(Object.entries(eventTypes).map(([type, { entity }]) => [type, entity])),
);

/** The kind of the record that a delivery is about. A subquery: otherwise a prepared statement would parse the JSON for each row. */
export const kindOf = (sql: Sql, alias: string) =>
  sql`((select ${KINDS}::text::jsonb) ->> ${sql(alias)}.event_type)`;

/** A redelivery that an e-shop asked for: it is outside the order. */
export const outside = (sql: Sql, alias: string) => sql`
  exists (select from redeliveries r where r.delivery_id = ${sql(alias)}.id and r.recovery_id is null)`;

/** `one` and `other` are of the same record, and of the same recovery or both of none. */
export const sameRecord = (sql: Sql, one: string, other: string) => sql`
  ${sql(one)}.eshop_id = ${sql(other)}.eshop_id and ${sql(one)}.entity_id = ${sql(other)}.entity_id
  and ${kindOf(sql, one)} = ${kindOf(sql, other)}
  and ${sql(one)}.recovery_id is not distinct from ${sql(other)}.recovery_id and not ${outside(sql, one)}`;

/** The webhook `w` has an order. A deleted one has none: its deliveries go on, to be canceled. */
export const ordered = (sql: Sql) => sql`(w.ordering <> 'none' and w.deleted_at is null)`;

/**
 * Older open deliveries `o` of the group of `d`, to the webhook `w`. A delivery held by an inactive webhook blocks no other once its
 * request is over; nor does one whose webhook has moved to another receiver, once its request to the old one is.
 */
export const predecessors = (sql: Sql) => sql`
  from deliveries o join webhooks ow on ow.id = o.webhook_id
  where o.state in ('pending', 'retrying') and o.sequence < d.sequence and ${sameRecord(sql, 'o', 'd')} and ow.ordering <> 'none'
    and (ow.receiver = w.receiver and ow.active and ow.deleted_at is null or exists (
      select from attempts a
      where a.delivery_id = o.id and a.finished_at is null and a.owned_until > clock_timestamp()
        and (ow.receiver = w.receiver or a.generation <> ow.generation)))`;

/** Older open deliveries of the group of a delivery being written now, of an event `f` at the webhook `w`. */
export const predecessorsOfNew = (sql: Sql) => sql`
  from (select w.eshop_id, f.type as event_type, f.entity_id, f.sequence, null::uuid as recovery_id, null::uuid as id) d, lateral (
    select ${predecessors(sql)}) ahead`;

/** Newer open deliveries `n` of the record of `d` at its webhook that are not about to be canceled. */
export const successors = (sql: Sql) => sql`
  from deliveries n
  where n.webhook_id = d.webhook_id and n.sequence > d.sequence and n.state in ('pending', 'retrying') and ${sameRecord(sql, 'n', 'd')}
    and n.operator_stop is distinct from 'giveUp'`;

/**
 * Whether `d`, to the webhook `w`, may have to wait or to end: `keepOrdering` decides. If not now, it never will, since any older one was
 * committed before it.
 */
export const isBlocked = (sql: Sql) => sql`
  (${ordered(sql)} and (
    not w.active or exists (select ${predecessors(sql)}) or (w.ordering = 'latest' and exists (select ${successors(sql)}))))`;

/** It waits for its turn in its record. */
export const waits = (sql: Sql, alias: string) =>
  sql`${sql(alias)}.class = ${CLASS.ordered} and ${sql(alias)}.dispatched_at is null and ${sql(alias)}.state = 'pending'`;

/** Never attempted nor about to be: it waits, or is among those claimed. */
export const untouched = (sql: Sql, alias: string) =>
  sql`${sql(alias)}.state = 'pending' and ${sql(alias)}.window_started_at is null`;

/**
 * Joins a delivery as `d`; if it was superseded, the one that goes on with its count of failures, which may itself be superseded by
 * now.
 */
export const joinSuccessor = (sql: Sql, id: ReturnType<Sql>) => sql`
  left join lateral (
    with recursive heir as (
      select h.* from deliveries h where h.id = ${id}
      union all
      select n.* from heir join deliveries n on n.id = heir.superseded_by)
    select * from heir where superseded_by is null) d on true`;

/** How many deliveries are behind this one, in the order of its record. */
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

/** Why `d`, a delivery to the webhook `w` that is not held, waits, apart from its next attempt, as JSON (docs/interface.md, L14). */
export const waitsFor = (sql: Sql) => sql`
  case when d.state = 'pending' and w.active and d.operator_stop is null then coalesce(
    -- Before it is claimed, it is not yet marked as waiting in order.
    case when d.dispatched_at is null and w.ordering <> 'none' then (
      select json_build_object('reason', 'order', 'deliveryId', o.id, 'since', d.created_at, 'nextAttemptAt',
        -- If that one is stopped by an operator or under way, nothing is planned.
        case when o.operator_stop is null and o.next_attempt_at > clock_timestamp() then o.next_attempt_at end)
      ${predecessors(sql)} and not ${outside(sql, 'd')} order by o.sequence, o.id limit 1) end,
    case
      when ${waits(sql, 'd')} then json_build_object('reason', 'order', 'since', d.created_at)
      when d.dispatched_at is null and exists (select from recoveries r where r.id = d.recovery_id and r.state = 'paused')
        then json_build_object('reason', 'pause', 'since', d.created_at)
      when d.attempts_made = 0 and d.next_attempt_at is not null
        then json_build_object('reason', 'limit', 'since', d.created_at, 'nextAttemptAt', d.next_attempt_at)
    end)
  end`;
