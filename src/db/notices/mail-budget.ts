/** The mail budget of an e-shop (docs/interface.md, N3): several at once, then one at a time. */
import type { Pool, Sql } from '../connection/pool.ts';
import { seconds } from '../predicates.ts';
import { transaction } from '../transaction.ts';
import type { Notice } from './notice.ts';
import { isPending } from './pending.ts';

/**
 * How many at once: a receiver that is gone affects all its webhooks, one for each event type. Too low: their mails
 * are deferred. Too high: a loop that switches webhooks on and off fills a mailbox.
 */
const AT_ONCE = 20;
/** Then one in this time. Too low: more mails than a person reads. Too high: deferred ones come too late. */
const EACH_SECONDS = 360;

/**
 * How long a mail may take that includes other notices, in seconds. Too low: a silent mail server holds a mail for
 * 40 s, and the included notices would be mailed again. Too high: if that mail is never sent after all, they wait.
 */
const MERGING_SECONDS = 120;
/** The most deferred notices that a mail includes. Too high: nobody reads to its end. Too low: more mails. */
const MAX_MERGED = 50;

/**
 * Takes a place of the e-shop's budget for the mail of a notice, and with it the notices of its kind to its address
 * that were deferred before. Under a lock of the e-shop: two mails at once would include the same, or each other.
 * @returns the others, the oldest first; or for how long the notice has to wait, in milliseconds
 */
export async function claimMail(
  sql: Pool,
  notice: Pick<Notice, 'id' | 'eshopId' | 'kind' | 'recipient' | 'addressId'>,
): Promise<{ readonly others: readonly string[] } | { readonly waitMs: number }> {
  const { id, eshopId, kind, recipient, addressId } = notice;
  return await transaction(sql, async (tx) => {
    await tx`select from eshops where id = ${eshopId} for no key update`;
    const [included] = await tx<{ ms: number }[]>`
      select ceil(extract(epoch from merging_until - now()) * 1000)::float8 as ms from notices
      where id = ${id} and merging_until > now() and merging_id <> ${id}`;
    if (included !== undefined) return { waitMs: included.ms };
    const waitMs = await takeFromBudget(tx, eshopId);
    if (waitMs !== null) {
      await tx`update notices set deferred = true where id = ${id}`;
      return { waitMs };
    }
    // If an execution dies, the next one takes the same notices again.
    const mark = tx`merging_id = ${id}, merging_until = now() + ${seconds(tx, MERGING_SECONDS)}`;
    // While it is being sent, no other mail may include it.
    await tx`update notices set ${mark} where id = ${id}`;
    if (kind === 'confirmation' || kind === 'lostSecrets') return { others: [] };
    const others = await tx<{ id: string; at: Date }[]>`
      update notices set ${mark} where id in (
        select n.id from notices n
        where ${isPending(tx)} and n.eshop_id = ${eshopId} and n.kind = ${kind} and n.recipient = ${recipient}
          and n.address_id is not distinct from ${addressId} and n.deferred and n.id <> ${id}
          and (n.merging_until is null or n.merging_until <= now() or n.merging_id = ${id})
        order by n.at limit ${MAX_MERGED})
      returning id, at`;
    return { others: others.toSorted((one, other) => +one.at - +other.at).map((each) => each.id) };
  });
}

/** Gives back the place of a mail that could not be sent, and releases the notices in it. */
export async function giveBackClaim(
  sql: Pool,
  { id, eshopId }: Pick<Notice, 'id' | 'eshopId'>,
  others: readonly string[],
): Promise<void> {
  await transaction(sql, async (tx) => {
    await tx`
      update eshops set mails_until = mails_until - ${seconds(tx, EACH_SECONDS)} where id = ${eshopId}`;
    await tx`update notices set merging_until = null
      where id = any(${[id, ...others]}::uuid[]) and merging_id = ${id}`;
  });
}

/** Takes a place for one mail. @returns null if there is one, otherwise the time until then, in milliseconds */
async function takeFromBudget(sql: Sql, eshopId: number): Promise<number | null> {
  const each = seconds(sql, EACH_SECONDS);
  const most = seconds(sql, EACH_SECONDS * AT_ONCE);
  // Not `now()`: a transaction may begin before another one and get the e-shop's lock after it.
  const now = sql`statement_timestamp()`;
  // If further ahead than it can be, it was written before the clock was set back.
  const until = sql`greatest(${now}, case when mails_until <= ${now} + ${most} then mails_until end)`;
  const taken = await sql`
    update eshops set mails_until = ${until} + ${each}
    where id = ${eshopId} and ${until} + ${each} <= ${now} + ${most} returning id`;
  if (taken.length > 0) return null;
  const [row] = await sql<{ ms: number }[]>`
    select extract(epoch from ${until} + ${each} - ${now} - ${most})::float8 * 1000 as ms from eshops where id = ${eshopId}`;
  return Math.max(1_000, Math.ceil(row?.ms ?? 0));
}
