/** Recoveries whose workflow has to be started, or signaled about a change: the row of a recovery records this. */
import type { EventType } from '../../domain/event-types.ts';
import type { Sql } from '../connection/pool.ts';
import type { Search } from '../recoveries/lost-events.ts';
import { type Transaction, wakeRelayAfter } from '../transaction.ts';
import { inTurns } from './in-turns.ts';
import { leaseEnd, unclaimed } from './outbox.ts';

/** A recovery that has to be signaled to Temporal. */
export interface ChangedRecovery extends Search {
  readonly id: string;
  readonly webhookType: EventType;
  readonly found: number;
  readonly version: number;
  /** The recovery is over: a running workflow is to be signaled, and no workflow is to be started. */
  readonly ended: boolean;
}

/** The columns of a `ChangedRecovery`, of `recoveries r` joined with `webhooks w`. */
const columns = (sql: Sql) => sql`
  r.id, r.eshop_id, r.webhook_id, w.webhook_type, r.since, r.until, r.include, r.found, r.version,
  r.state not in ('running', 'paused') as ended`;

/** The recoveries with these ids that are under way, in the form that is signaled to Temporal. */
export async function findRecoveries(sql: Sql, ids: readonly string[]): Promise<ChangedRecovery[]> {
  if (ids.length === 0) return [];
  return await sql<ChangedRecovery[]>`
    select ${columns(sql)} from recoveries r join webhooks w on w.id = r.webhook_id
    where r.id = any(${[...ids]}::uuid[]) and r.state in ('running', 'paused')`;
}

/** Call this when a webhook was changed: its recoveries under way must react. */
export async function enqueueRecoveriesOf(tx: Transaction, webhookId: number): Promise<void> {
  const changed = await tx`
    update recoveries set version = version + 1
    where webhook_id = ${webhookId} and state in ('running', 'paused')`;
  if (changed.count > 0) wakeRelayAfter(tx, 'recoveries');
}

/** Wakes the recoveries that wait for the end of a pause, once the pause of their webhook is over. */
export async function wakeAfterPauses(sql: Sql): Promise<void> {
  await sql`update recoveries set version = version + 1, waits_until = null where waits_until <= clock_timestamp()`;
}

/** Claims up to `limit` changed recoveries, in turn by e-shop, the oldest of each e-shop first. */
export async function claimRecoveryChanges(sql: Sql, limit: number): Promise<ChangedRecovery[]> {
  const changed = {
    table: 'recoveries',
    which: sql`o.signaled_version < o.version`,
    claimable: unclaimed(sql, 'o'),
    dueAt: sql`o.created_at`,
  } as const;
  return await sql<ChangedRecovery[]>`
    with ${inTurns(sql, limit, changed)}
    update recoveries r set claimed_until = ${leaseEnd(sql)}
    from chosen, webhooks w
    where r.id = chosen.id and w.id = r.webhook_id
    returning ${columns(sql)}`;
}

/** Notes that the claimed version of a recovery has been signaled to its workflow. */
export async function recordRecoverySignaled(sql: Sql, { id, version }: ChangedRecovery): Promise<void> {
  await sql`
    update recoveries set signaled_version = greatest(signaled_version, ${version}), claimed_until = null where id = ${id}`;
}
