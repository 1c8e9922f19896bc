/**
 * Pauses of webhooks, as SQL (docs/interface.md, W23). Whether a webhook is paused is derived from its row and the database's clock, so
 * a pause ends by itself, whatever runs.
 */
import type postgres from 'postgres';
import type { Sql } from './pool.ts';

/** The webhook of this row is paused. */
export const isPaused = (sql: Sql, webhook: string) =>
  sql`(${sql(webhook)}.paused_until > clock_timestamp())`;

/** The webhook of this row makes attempts: it is active and not paused. */
export const sends = (sql: Sql, webhook: string) =>
  sql`(${sql(webhook)}.active and ${isPaused(sql, webhook)} is not true)`;

/** The ids of all paused webhooks: few, and found by an index. */
export const pausedWebhooks = (sql: Sql) =>
  sql`array(select p.id from webhooks p where p.paused_until > now())`;

/** How long the webhook of this row has been paused since a time, up to the end of a pause under way. */
const pausedSince = (sql: Sql, webhook: string, since: postgres.Fragment) => sql`
  case when ${sql(webhook)}.paused_until > ${since} then (
    select coalesce(sum(upper(x.pause) - lower(x.pause)), interval '0')
    from (select p * tstzrange(${since}, null) as pause from unnest(${sql(webhook)}.pauses) p) x where not isempty(x.pause))
  else interval '0' end`;

/** A time from which something runs that a pause of the webhook of this row suspends: moved by the pauses since. */
export const movedByPauses = (sql: Sql, webhook: string, since: postgres.Fragment) =>
  sql`(${since} + ${pausedSince(sql, webhook, since)})`;
