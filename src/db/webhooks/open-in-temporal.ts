/**
 * The open deliveries that the database knows. Temporal's list is compared with them: it may be behind, may have lost
 * entries, and has none of those in the queue.
 */
import { oneRow, type Sql } from '../pool.ts';

/**
 * How long Temporal's list may take to show a new workflow, in seconds. Fewer: a burst is taken for lost entries.
 * More: those lost among the newest are not noticed.
 */
const LISTED_SECONDS = 10;

/** Selects by all conditions that are given. */
export interface OpenFilter {
  readonly eshopId?: number | undefined;
  /** One of these. */
  readonly webhookIds?: readonly number[] | undefined;
  readonly webhookType?: string | undefined;
  readonly entityId?: string | undefined;
}

/** How many open deliveries match. */
export interface OpenCounts {
  /** The deliveries that Temporal's list should show. */
  readonly inTemporal: number;
  /** The deliveries in the queue, which have no workflow yet. */
  readonly queued: number;
}

export async function countOpen(sql: Sql, filter: OpenFilter): Promise<OpenCounts> {
  const { eshopId, webhookIds, webhookType, entityId } = filter;
  return await oneRow(sql<OpenCounts[]>`
    select count(*) filter (where d.dispatched_at < now() - make_interval(secs => ${LISTED_SECONDS}))::int as in_temporal,
      count(*) filter (where d.dispatched_at is null)::int as queued
    from deliveries d
    where d.state in ('pending', 'retrying')
      ${eshopId === undefined ? sql`` : sql`and d.eshop_id = ${eshopId}`}
      ${webhookIds === undefined ? sql`` : sql`and d.webhook_id = any(${[...webhookIds]}::int[])`}
      ${webhookType === undefined ? sql`` : sql`and d.event_type = ${webhookType}`}
      ${entityId === undefined ? sql`` : sql`and d.entity_id = ${entityId}`}`);
}
