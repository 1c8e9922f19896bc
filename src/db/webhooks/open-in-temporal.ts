/** Open deliveries that Temporal has: what its list, which may be behind or have lost entries, is compared with. */
import { counted, type Sql } from '../pool.ts';

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

/** Counts those that its list should show. */
export async function countOpenInTemporal(sql: Sql, filter: OpenFilter): Promise<number> {
  const { eshopId, webhookIds, webhookType, entityId } = filter;
  return await counted(sql<{ count: number }[]>`
    select count(*)::int as count from deliveries d
    where d.state in ('pending', 'retrying') and d.dispatched_at < now() - make_interval(secs => ${LISTED_SECONDS})
      ${eshopId === undefined ? sql`` : sql`and d.eshop_id = ${eshopId}`}
      ${webhookIds === undefined ? sql`` : sql`and d.webhook_id = any(${[...webhookIds]}::int[])`}
      ${webhookType === undefined ? sql`` : sql`and d.event_type = ${webhookType}`}
      ${entityId === undefined ? sql`` : sql`and d.entity_id = ${entityId}`}`);
}
