/**
 * The open deliveries that the database knows. Temporal's list is compared with them: it may lag behind or have lost
 * entries, and it lacks the deliveries in the queue.
 */
import { oneRow, type Sql } from '../connection/pool.ts';
import { isOpen, seconds } from '../predicates.ts';
import { shownState } from './delivery-log.ts';

/**
 * How long Temporal's list may take to show a new workflow, in seconds. Too low: a burst is taken for lost entries.
 * Too high: those lost among the newest are not noticed.
 */
const LISTED_SECONDS = 10;

/** Selects by all conditions that are given. */
export interface OpenFilter {
  readonly eshopId?: number | undefined;
  /** One of these. */
  readonly webhookIds?: readonly number[] | undefined;
  readonly webhookType?: string | undefined;
  readonly entityId?: string | undefined;
  readonly state?: 'retrying' | 'held' | undefined;
  /** Created at `since` or later, and before `until`. */
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

interface OpenDeliveries {
  /** How many of them Temporal's list should show. */
  readonly inTemporal: number;
  /** Those in the queue, which have no workflow yet: the newest first. */
  readonly queued: readonly string[];
}

export async function findOpen(sql: Sql, filter: OpenFilter): Promise<OpenDeliveries> {
  const { eshopId, webhookIds, webhookType, entityId, state, since, until } = filter;
  return await oneRow(sql<OpenDeliveries[]>`
    select count(*) filter (where d.dispatched_at < now() - ${seconds(sql, LISTED_SECONDS)})::int as in_temporal,
      coalesce(array_agg(d.id::text order by d.id desc) filter (where d.dispatched_at is null), '{}') as queued
    from deliveries d join webhooks w on w.id = d.webhook_id
    where ${isOpen(sql)}
      ${eshopId === undefined ? sql`` : sql`and d.eshop_id = ${eshopId}`}
      ${webhookIds === undefined ? sql`` : sql`and d.webhook_id = any(${[...webhookIds]}::int[])`}
      ${webhookType === undefined ? sql`` : sql`and d.event_type = ${webhookType}`}
      ${entityId === undefined ? sql`` : sql`and d.entity_id = ${entityId}`}
      ${state === undefined ? sql`` : sql`and ${shownState(sql)} = ${state}`}
      ${since === undefined ? sql`` : sql`and d.created_at >= ${since}`}
      ${until === undefined ? sql`` : sql`and d.created_at < ${until}`}`);
}
