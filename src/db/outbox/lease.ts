/**
 * Leases: claimed rows belong to one process while it works on them. If that process is killed, they can soon be
 * claimed again. A lease on a delivery has a claim token as well, and ends in `release.ts`.
 */
import type { Sql } from '../connection/pool.ts';
import { LEASE_SECONDS, leaseEnd } from './outbox.ts';

/** The time between two renewals, in milliseconds: three may fail before the lease ends. */
export const RENEWAL_MS = (LEASE_SECONDS * 1000) / 4;

/** The leases on rows of a table; rows are named by their ids. */
export function leasesOf(sql: Sql, table: 'changes_to_signal' | 'recoveries') {
  const isAmong = (rows: readonly { readonly id: string }[]) => {
    const ids = rows.map(({ id }) => id);
    return sql`id = any(${ids}::${sql.unsafe(table === 'changes_to_signal' ? 'bigint' : 'uuid')}[])`;
  };
  return {
    /** Renews the lease on the rows that are still claimed. */
    async renew(rows: readonly { readonly id: string }[]): Promise<void> {
      await sql`
        update ${sql(table)} set claimed_until = ${leaseEnd(sql)}
        where ${isAmong(rows)} and claimed_until is not null`;
    },
    async giveBack(rows: readonly { readonly id: string }[]): Promise<void> {
      if (rows.length === 0) return;
      await sql`update ${sql(table)} set claimed_until = null where ${isAmong(rows)}`;
    },
  };
}

/**
 * Does the work, and renews the lease until it is done. A failed renewal does not stop the work: at worst another
 * process repeats the work, which is idempotent.
 */
export async function whileLeased<T>(renew: () => Promise<void>, work: () => Promise<T>): Promise<T> {
  // The next renewal tries again. If the lease ends first, another process claims the rows.
  const timer = setInterval(() => void renew().catch(() => {}), RENEWAL_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
