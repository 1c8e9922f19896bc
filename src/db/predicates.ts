/** Facts that many statements ask for, as SQL; each by the usual alias of its table (d: deliveries, w: webhooks). */
import type { Sql } from './sql.ts';

/** A delivery that has not ended. Spelled as in the partial indexes on such deliveries. */
export const isOpen = (sql: Sql, alias = 'd') => sql`${sql(alias)}.state in ('pending', 'retrying')`;

/** A delivery whose event the receiver did not get, unless another delivery brings it. */
export const isLost = (sql: Sql, alias = 'd') =>
  sql`${sql(alias)}.state in ('failed', 'expired', 'canceled')`;

/** A delivery whose event needs no other one: it has arrived, or may still arrive. */
export const isSettled = (sql: Sql) => sql`(${isOpen(sql)} or d.state = 'delivered')`;

/** The delivery of this row has not been attempted, nor is an attempt beginning: it waits, or was just claimed. */
export const neverAttempted = (sql: Sql, delivery: string) =>
  sql`(${sql(delivery)}.state = 'pending' and ${sql(delivery)}.window_started_at is null)`;

/** A delivery that an operator or a user has given up: it ends, perhaps after an attempt under way. */
export const isGivenUp = (sql: Sql, alias = 'd') =>
  sql`(${sql(alias)}.operator_stop is not distinct from 'giveUp')`;

/** The columns that an end of a delivery sets besides its state: no next attempt, and no claim. */
export const ending = (sql: Sql) =>
  sql`finished_at = clock_timestamp(), next_attempt_at = null, claimed_until = null, claim_id = null`;

/** An attempt whose process may still be making it. */
export const isUnderWay = (sql: Sql, alias = 'a') =>
  sql`(${sql(alias)}.finished_at is null and ${sql(alias)}.owned_until > clock_timestamp())`;

/** A delivery with such an attempt. */
export const hasAttemptUnderWay = (sql: Sql, alias = 'd') =>
  sql`exists (select from attempts a where a.delivery_id = ${sql(alias)}.id and ${isUnderWay(sql)})`;

/** The webhook of this row keeps an ordering. A deleted one keeps none: its deliveries go on, and are canceled. */
export const keepsOrdering = (sql: Sql, webhook: string) =>
  sql`(${sql(webhook)}.ordering <> 'none' and ${sql(webhook)}.deleted_at is null)`;

/** A length of time. */
export const seconds = (sql: Sql, value: number) => sql`make_interval(secs => ${value})`;
