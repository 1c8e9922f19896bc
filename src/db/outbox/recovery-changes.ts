/** Recoveries whose workflow has to be started, or told that something changed: their own rows say so. */
import type { Sql } from '../pool.ts';
import type { Search } from '../recoveries/lost-events.ts';
import { type Transaction, wakeRelayAfter } from '../transaction.ts';
import { leasesOf } from './lease.ts';
import { leaseEnd } from './outbox.ts';

/** Renews the claims on recoveries, or gives them back. */
export const { renew: renewRecoveryChanges, release: releaseRecoveryChanges } = leasesOf('recoveries');

/** A recovery of which Temporal has to be told. */
export interface UntoldRecovery extends Search {
  readonly id: string;
  readonly found: number;
  readonly version: number;
  /** It is over: a workflow that runs is to hear of it, and none is to be started. */
  readonly ended: boolean;
}

/** The columns of an `UntoldRecovery`, of `recoveries r` joined with `webhooks w`. */
const columns = (sql: Sql) => sql`
  r.id, r.eshop_id, r.webhook_id, w.webhook_type, r.since, r.until, r.include, r.found, r.version,
  r.state not in ('running', 'paused') as ended`;

/** Those of these recoveries that are under way, as Temporal is told of them. */
export async function recoveriesAmong(sql: Sql, ids: readonly string[]): Promise<UntoldRecovery[]> {
  if (ids.length === 0) return [];
  return await sql<UntoldRecovery[]>`
    select ${columns(sql)} from recoveries r join webhooks w on w.id = r.webhook_id
    where r.id = any(${[...ids]}::uuid[]) and r.state in ('running', 'paused')`;
}

/** The recoveries of a webhook that are under way must look at it: it was changed. */
export async function enqueueRecoveriesOf(tx: Transaction, webhookId: number): Promise<void> {
  const told = await tx`
    update recoveries set version = version + 1
    where webhook_id = ${webhookId} and state in ('running', 'paused')`;
  if (told.count > 0) wakeRelayAfter(tx, 'recoveries');
}

/** Claims up to `limit` of them, oldest first. */
export async function claimRecoveryChanges(sql: Sql, limit: number): Promise<UntoldRecovery[]> {
  return await sql<UntoldRecovery[]>`
    update recoveries r set claimed_until = ${leaseEnd(sql)}
    from webhooks w
    where w.id = r.webhook_id and r.id in (
      select id from recoveries
      where told_version < version and (claimed_until is null or claimed_until < now())
      order by id limit ${limit} for update skip locked)
    returning ${columns(sql)}`;
}

/** Notes that a workflow has been told of a recovery as it was claimed. */
export async function noteRecoveryTold(sql: Sql, { id, version }: UntoldRecovery): Promise<void> {
  await sql`
    update recoveries set told_version = greatest(told_version, ${version}), claimed_until = null where id = ${id}`;
}
