/**
 * Pauses of webhooks, as SQL (docs/interface.md, W23). Whether a webhook is paused is derived from its row and the
 * database's clock, so a pause ends by itself, even if no process is running.
 */
import type postgres from 'postgres';
import type { Sql } from './connection/pool.ts';

/** The webhook of this row is paused. */
export const isPaused = (sql: Sql, webhook: string) =>
  sql`(${sql(webhook)}.paused_until > clock_timestamp())`;

/** The webhook of this row makes attempts: it is active and not paused. */
export const makesAttempts = (sql: Sql, webhook: string) =>
  sql`(${sql(webhook)}.active and ${isPaused(sql, webhook)} is not true)`;

/** The ids of all paused webhooks: few, and found by an index. */
export const pausedWebhooks = (sql: Sql) =>
  sql`array(select p.id from webhooks p where p.paused_until > now())`;

/** A start time that pauses of the webhook of this row suspend, moved by the pauses since then. */
export const movedByPauses = (sql: Sql, webhook: string, since: postgres.Fragment) => sql`
  case when ${sql(webhook)}.paused_until > ${since} then moved_by_pauses(${since}, ${sql(webhook)}.pauses) else ${since} end`;
