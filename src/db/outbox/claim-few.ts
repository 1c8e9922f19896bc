/**
 * A claim in a calm: while few wait and few are in flight, all that wait may be taken, and the turns need not be worked out. It takes
 * a third of the time, which matters most when nothing else is waiting.
 */
import type { Sql } from '../pool.ts';
import {
  type Claim,
  type ClaimLimits,
  type ClaimRow,
  claimedColumns,
  claimOf,
  handedOverLately,
  returned,
  UNBOUNDED,
  unclaimed,
  waits,
} from './claim.ts';
import { leaseEnd } from './outbox.ts';

/** Deliveries that wait or are in flight, of all e-shops together. */
const FEW = 8;

/**
 * Claims everything that waits, for workflows of their own, as a claim by turns would.
 * @returns undefined where it takes a claim by turns: more than a few wait or are in flight, or more than the least of all bounds
 * allows; a batch is open; the claim is for a batch, of what recoveries created, or without a bound on what is handed over
 */
export async function claimFew(sql: Sql, limits: ClaimLimits): Promise<Claim | undefined> {
  const { limit, handedOver, countTo = 0, batchId, recovered = false, inFlight = UNBOUNDED } = limits;
  if (batchId !== undefined || recovered || handedOver === undefined) return undefined;
  const { eshops, webhooks, hosts } = inFlight;
  const bounds = [
    inFlight.eshop,
    inFlight.webhook,
    inFlight.host,
    ...eshops.values(),
    ...webhooks.values(),
    ...hosts.values(),
  ];
  const most = Math.min(FEW, limit, handedOver, ...bounds);
  if (most < 1) return undefined;
  // A literal, not a parameter: for an unknown LIMIT the planner assumes a tenth of the rows counted by the last ANALYZE.
  const enough = sql.unsafe(`limit ${FEW + 1}`);
  const rows = await sql<(ClaimRow & { few: boolean })[]>`
    with dispatched as materialized (
      select d.webhook_id, d.dispatched_at, d.window_started_at is null and d.next_attempt_at is null as unattempted
      from deliveries d where d.batch_id is null and d.state = 'pending' and ${handedOverLately(sql)}
      order by d.dispatched_at ${enough}),
    queued as materialized (
      select d.id, d.eshop_id, d.webhook_id, d.created_at, d.recovery_id is null and ${unclaimed(sql)} as claimable
      from deliveries d where ${waits(sql)}
      order by d.eshop_id, d.webhook_id, d.id ${enough}),
    calm as materialized (
      select (select count(*) from dispatched) + (select count(*) from queued) <= ${most}
        and not exists (select from batches where finished_at is null) as few),
    handed_over as materialized (
      select count(*)::int as count, coalesce(extract(epoch from now() - min(d.dispatched_at)) * 1000, 0)::float8 as ms
      from dispatched d join webhooks w on w.id = d.webhook_id
      where d.unattempted and w.active and w.deleted_at is null),
    chosen as materialized (
      select locked.id from queued q cross join lateral (
        select d.id from deliveries d
        where d.eshop_id = q.eshop_id and d.webhook_id = q.webhook_id and d.id = q.id
          and ${waits(sql)} and ${unclaimed(sql)}
        limit 1 for update skip locked) locked
      where q.claimable and (select few from calm)),
    claimed as (
      update deliveries d set claimed_until = ${leaseEnd(sql)}
      from chosen where d.id = chosen.id
      returning ${returned(sql)})
    select calm.few, h.count as handed_over, h.ms as hand_over_ms,
           coalesce((select extract(epoch from now() - min(created_at)) * 1000 from queued where claimable), 0)::float8 as waited_ms,
           (select count(*) from queued where claimable) > (select count(*) from claimed) as more,
           least((select count(*) from queued where claimable), ${countTo})::int as waiting, false as kept, 0::float8 as kept_ms,
           ${claimedColumns(sql)}
    from calm cross join handed_over h left join claimed on true
    order by claimed.id`;
  return rows[0]?.few === true ? claimOf(rows) : undefined;
}
