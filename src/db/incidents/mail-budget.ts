/** The mail budget of an e-shop (docs/interface.md, N3): several at once, then one at a time. */
import type { Sql } from '../pool.ts';

/**
 * How many at once: a receiver that is gone affects all its webhooks, one for each event type. Fewer:
 * their mails are deferred. More: a loop that switches webhooks on and off fills a mailbox.
 */
const AT_ONCE = 20;
/** Then one in this time. Shorter: more mails than a person reads. Longer: deferred ones come too late. */
const EACH_SECONDS = 360;

/**
 * Takes a place for one mail.
 * @returns null if there is one, otherwise the time until there is one, in milliseconds
 */
export async function takeFromBudget(sql: Sql, eshopId: number): Promise<number | null> {
  const each = sql`make_interval(secs => ${EACH_SECONDS})`;
  const most = sql`make_interval(secs => ${EACH_SECONDS * AT_ONCE})`;
  // If further ahead than it can be, it was written before the clock was set back.
  const until = sql`greatest(now(), case when mails_until <= now() + ${most} then mails_until end)`;
  const taken = await sql`
    update eshops set mails_until = ${until} + ${each}
    where id = ${eshopId} and ${until} + ${each} <= now() + ${most} returning id`;
  if (taken.length > 0) return null;
  const [row] = await sql<{ ms: number }[]>`
    select extract(epoch from ${until} + ${each} - now() - ${most})::float8 * 1000 as ms from eshops where id = ${eshopId}`;
  return Math.max(1_000, Math.ceil(row?.ms ?? 0));
}

/** Gives back a place that no mail used. */
export async function giveBackMail(sql: Sql, eshopId: number): Promise<void> {
  await sql`
    update eshops set mails_until = mails_until - make_interval(secs => ${EACH_SECONDS}) where id = ${eshopId}`;
}
