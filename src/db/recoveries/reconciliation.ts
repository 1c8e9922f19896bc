import type { Sql } from '../connection/pool.ts';
import { makesAttempts } from '../pauses.ts';
import { seconds } from '../predicates.ts';

/** A recovery that should have a running workflow. */
export interface RecoveryToTrack {
  readonly id: string;
  /** Its next step is overdue although nothing holds it. */
  readonly late: boolean;
}

/** The time between two steps while only retries are left, in seconds: the longest wait of a workflow. */
const MAX_STEP_INTERVAL_S = 60;
/** The time before one is checked again, in seconds. */
const CHECK_INTERVAL_S = 60;

/** Recoveries that Temporal knows of. */
const isSignaled = (sql: Sql) => sql`r.state in ('running', 'paused') and r.signaled_version > 0`;

/** Claims recoveries that nothing holds and that made their last step longer ago than the grace. */
export async function claimLateRecoveries(sql: Sql, graceMs: number, limit: number) {
  const last = sql`greatest(r.stepped_at, r.created_at, r.check_at, w.generation_at, w.paused_until)`;
  return await sql<RecoveryToTrack[]>`
    update recoveries r set check_at = now() + ${seconds(sql, CHECK_INTERVAL_S)}
    where r.id in (
      select r.id from recoveries r join webhooks w on w.id = r.webhook_id
      where ${isSignaled(sql)} and (r.state = 'running' and ${makesAttempts(sql, 'w')} or w.deleted_at is not null)
        and ${last} < now() - make_interval(
          secs => ${graceMs / 1_000}::float8 + case when r.exhausted then ${MAX_STEP_INTERVAL_S} else 0 end)
      order by r.id limit ${limit} for update of r skip locked)
    returning r.id, true as late`;
}

/** A page of all tracked recoveries, in the order of their ids. */
export async function trackedRecoveries(
  sql: Sql,
  { after, limit }: { readonly after: { readonly id: string } | null; readonly limit: number },
): Promise<RecoveryToTrack[]> {
  return await sql<RecoveryToTrack[]>`
    select r.id, false as late from recoveries r
    where ${isSignaled(sql)} ${after === null ? sql`` : sql`and r.id > ${after.id}::uuid`}
    order by r.id limit ${limit}`;
}
