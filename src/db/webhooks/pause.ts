/** Pausing a webhook, and ending its pause (docs/interface.md, W23). */
import type postgres from 'postgres';
import { conflict, invalid } from '../../domain/problem.ts';
import { MAX_PAUSE_DAYS } from '../../domain/webhook-pause.ts';
import type { Pool, Sql } from '../connection/pool.ts';
import { enqueueWebhookChange } from '../outbox/changes.ts';
import { enqueueRecoveriesOf } from '../outbox/recovery-changes.ts';
import { transaction } from '../transaction.ts';
import { type LockedWebhook, lockWebhook, reload } from './webhooks.ts';

/** How many pauses of a webhook are kept. Too low: windows of older deliveries end early. Too high: a longer row. */
const KEPT_PAUSES = 100;

function refuseInactive(id: number, { active }: LockedWebhook): void {
  if (!active) throw conflict(`Webhook ${id} is inactive: nothing is sent, so there is nothing to pause.`);
}

/**
 * Pauses a webhook, or moves the end of its pause.
 * @param until null: as late as possible
 * @returns null if there is no such webhook
 * @throws Problem 409 while it is inactive; 400 if the end is not in the future, or too far ahead
 */
export async function pauseWebhook(sql: Pool, eshopId: number, id: number, until: Date | null) {
  return await transaction(sql, async (tx) => {
    const before = await lockWebhook(tx, eshopId, id);
    if (before === null) return null;
    refuseInactive(id, before);
    const latest = tx`${now(tx)} + make_interval(days => ${MAX_PAUSE_DAYS})`;
    const end = until === null ? latest : tx`${until}::timestamptz`;
    const begin = before.isPaused ? tx`least(paused_at, ${now(tx)})` : now(tx);
    // Deliveries that already wait for the end of the pause know its old end.
    const [paused] = await tx<{ endsSooner: boolean }[]>`
      update webhooks set pauses = ${pausesBefore(tx, begin)} || tstzrange(${begin}, ${end})
      where id = ${id} and ${end} > ${now(tx)} and ${end} <= ${latest}
      returning coalesce(paused_until < ${before.pausedUntil}::timestamptz, false) as ends_sooner`;
    if (paused === undefined) {
      throw invalid([
        { path: 'until', message: `must be in the future, and at most ${MAX_PAUSE_DAYS} days ahead` },
      ]);
    }
    // Deliveries of other webhooks that wait behind its deliveries may go on.
    if (!before.isPaused && before.ordering !== 'none')
      await enqueueWebhookChange(tx, eshopId, id, { orderingOnly: true });
    if (paused.endsSooner) await enqueueWebhookChange(tx, eshopId, id);
    else await enqueueRecoveriesOf(tx, id);
    return await reload(tx, eshopId, id);
  });
}

/**
 * Ends the pause of a webhook, if it is paused.
 * @returns the webhook, and whether it was paused; null if there is no such webhook
 * @throws Problem 409 while it is inactive
 */
export async function resumeWebhook(sql: Pool, eshopId: number, id: number) {
  return await transaction(sql, async (tx) => {
    const before = await lockWebhook(tx, eshopId, id);
    if (before === null) return null;
    refuseInactive(id, before);
    if (before.isPaused) {
      await endPause(tx, id);
      await enqueueWebhookChange(tx, eshopId, id);
    }
    return { webhook: await reload(tx, eshopId, id), changed: before.isPaused };
  });
}

/** Ends the pause of a webhook now, if it is paused. @param tx holds the lock on its row */
export async function endPause(tx: Sql, id: number): Promise<void> {
  await tx`
    update webhooks set pauses = ${pausesBefore(tx, now(tx))} where id = ${id} and paused_until > clock_timestamp()`;
}

/** The database's time, the same within a statement. */
const now = (tx: Sql): postgres.Fragment => tx`statement_timestamp()`;

/**
 * The last pauses of a webhook, cut at a time. If the database's clock was set back, some pauses begin later than
 * that: they are left out, since a range cannot end before it begins, and an empty range has no ends.
 */
const pausesBefore = (tx: Sql, time: postgres.Fragment) => tx`array(
  select x.pause from (
    select u.pause * tstzrange(null, ${time}) as pause, u.number from unnest(pauses) with ordinality u (pause, number)) x
  where not isempty(x.pause) order by x.number offset greatest(0, cardinality(pauses) - ${KEPT_PAUSES - 1}))`;
