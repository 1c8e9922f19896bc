/** Ends the claim on a delivery, or renews it. Each statement changes only rows still under the claim it is given. */
import { anyOf, inIdRange, notIndexable } from '../ids.ts';
import { isOpen, seconds } from '../predicates.ts';
import type { Sql } from '../sql.ts';
import {
  asyncCommit,
  CLASS,
  type ClaimedId,
  leaseEnd,
  requeueTarget,
  rescheduledAttempt,
  windowNotBegun,
} from './outbox.ts';

/** How long a delivery whose start Temporal rejected is left alone, in seconds. */
const REFUSED_SECONDS = 30;

/** The deliveries `d` that are still under these claims, as SQL. Each claim has a token of its own. */
function stillClaimed(sql: Sql, claims: readonly ClaimedId[]) {
  const tokens = claims.map(({ claimId }) => claimId);
  const ids = claims.map(({ id }) => id);
  return sql`${anyOf(sql, sql`d.id`, ids)}
    and d.claim_id = any(${tokens}::uuid[])
    and ${notIndexable(sql, sql`d.dispatched_at is null`)}`;
}

/** Records that Temporal has the workflows of these deliveries: the lasting guard against a second start. */
export async function markDispatched(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql`
    update deliveries set dispatched_at = coalesce(dispatched_at, now()), claimed_until = null, claim_id = null
    where ${anyOf(sql, sql`id`, ids)} and ${asyncCommit(sql)}`;
}

/** Renews the lease on these claims. It skips locked rows: they are being written, and are renewed next time. */
export async function renewClaims(sql: Sql, claims: readonly ClaimedId[]): Promise<void> {
  if (claims.length === 0) return;
  const ids = claims.map(({ id }) => id);
  await sql`
    update deliveries set claimed_until = ${leaseEnd(sql)}
    where id = any(array(select d.id from deliveries d where ${stillClaimed(sql, claims)} for update skip locked))
      and ${inIdRange(sql, sql`id`, ids)} and ${asyncCommit(sql)}`;
}

/**
 * Postpones deliveries whose workflow Temporal refused to start: the start is tried again later, and blocks no other
 * delivery until then. They lose their claim tokens, so that a renewal of other claims leaves them alone.
 */
export async function postponeRejected(sql: Sql, claims: readonly ClaimedId[]): Promise<void> {
  await sql`
    update deliveries d set claimed_until = now() + ${seconds(sql, REFUSED_SECONDS)}, claim_id = null
    where ${stillClaimed(sql, claims)}`;
}

/**
 * Gives deliveries back as they were: they can be claimed again at once.
 * @param firstWaitMs the policy's first wait, for deliveries that got no workflow: a change to their webhook skipped
 * claimed ones, and is applied now
 */
export async function giveBack(
  sql: Sql,
  claims: readonly ClaimedId[],
  firstWaitMs: number | null = null,
): Promise<void> {
  if (claims.length === 0) return;
  await sql`
    update deliveries d set claimed_until = null, claim_id = null
      ${firstWaitMs === null ? sql`` : sql`, next_attempt_at = ${nextIfChanged(sql, firstWaitMs)}`}
    where ${stillClaimed(sql, claims)}`;
}

/** The next attempt of a delivery `d` whose workflow was not started, by its webhook as it is now, as SQL. */
function nextIfChanged(sql: Sql, firstWaitMs: number) {
  const { soonest, isLater } = rescheduledAttempt(sql, firstWaitMs);
  const changed = sql`d.class = ${CLASS.undelivered} and (select ${isLater} from webhooks w where w.id = d.webhook_id)`;
  return sql`case when ${changed} then ${soonest} else d.next_attempt_at end`;
}

/** A claimed delivery whose attempt was not made. */
export interface Unattempted extends ClaimedId {
  /** The workflow has to decide what happens to the delivery, whatever the row says. */
  readonly needsWorkflow: boolean;
}

/** Puts claimed deliveries back into the queue for their next step. */
export async function requeue(sql: Sql, unattempted: readonly Unattempted[]): Promise<void> {
  const decided = unattempted.flatMap(({ id, needsWorkflow }) => (needsWorkflow ? [id] : []));
  const { deliveryClass, dueAt } = requeueTarget(sql);
  const isDecided = sql`d.id = any(${decided}::uuid[])`;
  await sql`
    update deliveries d set claimed_until = null, claim_id = null,
      class = case when ${isDecided} then ${CLASS.undelivered}::smallint else ${deliveryClass} end,
      due_at = case when ${isDecided} then now() else ${dueAt} end
    from webhooks w where w.id = d.webhook_id and ${stillClaimed(sql, unattempted)}`;
}

/** How long a deferred delivery is left alone, in seconds. Too low: useless claims. Too high: a free one waits. */
const DEFERRED_SECONDS = 1;

/**
 * Defers claimed deliveries that got no permit, or whose attempt has another owner; in the second case at least until
 * that ownership is over. Otherwise they wait as `requeue` lets them: that owner may have recorded a failure, and the
 * next attempt is never made before its time. A retry keeps the time of its next attempt, since without one the
 * retries would count as used up.
 *
 * This worker's limits may ask for a wait of up to five minutes. It does not count: all workers share the queue, and
 * another one may have room at once. This worker's quotas leave the delivery in the queue for that long.
 */
export async function deferClaimed(sql: Sql, claims: readonly ClaimedId[]): Promise<void> {
  const { deliveryClass, dueAt } = requeueTarget(sql);
  const until = sql`greatest(now() + ${seconds(sql, DEFERRED_SECONDS)}, (
    select a.owned_until from attempts a
    where a.delivery_id = d.id and a.number = d.attempts_made + 1 and a.finished_at is null))`;
  await sql`
    update deliveries d set
      claimed_until = null,
      claim_id = null,
      class = ${deliveryClass},
      due_at = greatest(${dueAt}, ${until}),
      ${windowNotBegun(sql)},
      next_attempt_at = case
        when d.attempts_made > 0 and d.next_attempt_at is not null then greatest(d.next_attempt_at, ${until}) end
    from webhooks w
    where w.id = d.webhook_id and ${stillClaimed(sql, claims)} and ${notIndexable(sql, isOpen(sql))}`;
}
