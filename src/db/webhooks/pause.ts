/** Pausing a webhook, and ending its pause (docs/interface.md, W23). */
import { conflict, invalid } from '../../domain/problem.ts';
import { MAX_PAUSE_DAYS } from '../../domain/webhook-pause.ts';
import { enqueueOrderingChange, enqueueWebhookChange } from '../outbox/changes.ts';
import { enqueueRecoveriesOf } from '../outbox/recovery-changes.ts';
import type { Pool, Sql } from '../pool.ts';
import { transaction } from '../transaction.ts';
import { readBack, type WebhookRow } from './webhooks.ts';

/** How many pauses of a webhook are known. Fewer: windows of deliveries older than all of them end too early. More: a longer row. */
const KEPT_PAUSES = 100;

interface Locked {
  readonly active: boolean;
  readonly ordering: string;
  /** When its last pause ends or ended. */
  readonly pausedUntil: Date | null;
  readonly isPaused: boolean;
}

async function lock(tx: Sql, eshopId: number, id: number): Promise<Locked | null> {
  const [row] = await tx<Locked[]>`
    select active, ordering, paused_until, coalesce(paused_until > clock_timestamp(), false) as is_paused from webhooks
    where id = ${id}::bigint and eshop_id = ${eshopId} and deleted_at is null
    for update`;
  return row ?? null;
}

function refuseInactive(id: number, { active }: Locked): void {
  if (!active) throw conflict(`Webhook ${id} is inactive: nothing is sent, so there is nothing to pause.`);
}

/**
 * Pauses a webhook; of a paused one, moves the end.
 * @param until null: as late as possible
 * @returns null if there is no such webhook
 * @throws Problem 409 while it is inactive; 400 if the end is not in the future, or too far ahead
 */
export async function pauseWebhook(
  sql: Pool,
  eshopId: number,
  id: number,
  until: Date | null,
): Promise<WebhookRow | null> {
  return await transaction(sql, async (tx) => {
    const before = await lock(tx, eshopId, id);
    if (before === null) return null;
    refuseInactive(id, before);
    const latest = tx`clock_timestamp() + make_interval(days => ${MAX_PAUSE_DAYS})`;
    const end = until === null ? latest : tx`${until}::timestamptz`;
    const begin = before.isPaused ? tx`paused_at` : tx`clock_timestamp()`;
    const others = before.isPaused ? tx`pauses[:cardinality(pauses) - 1]` : tx`pauses`;
    // Its deliveries that wait for the end of the pause know the old one.
    const [paused] = await tx<{ endsSooner: boolean }[]>`
      update webhooks set pauses = (${others})[greatest(1, cardinality(${others}) - ${KEPT_PAUSES - 2}):] || tstzrange(${begin}, ${end})
      where id = ${id} and ${end} > clock_timestamp() and ${end} <= ${latest}
      returning coalesce(paused_until < ${before.pausedUntil}::timestamptz, false) as ends_sooner`;
    if (paused === undefined) {
      throw invalid([
        { path: 'until', message: `must be in the future, and at most ${MAX_PAUSE_DAYS} days ahead` },
      ]);
    }
    // Others of its records that are behind its deliveries may go on.
    if (!before.isPaused && before.ordering !== 'none') await enqueueOrderingChange(tx, eshopId, id);
    if (paused.endsSooner) await enqueueWebhookChange(tx, eshopId, id);
    else await enqueueRecoveriesOf(tx, id);
    return await readBack(tx, eshopId, id);
  });
}

/**
 * Ends the pause of a webhook, if it is paused.
 * @returns the webhook, and whether it was paused; null if there is no such webhook
 * @throws Problem 409 while it is inactive
 */
export async function resumeWebhook(
  sql: Pool,
  eshopId: number,
  id: number,
): Promise<{ readonly webhook: WebhookRow; readonly changed: boolean } | null> {
  return await transaction(sql, async (tx) => {
    const before = await lock(tx, eshopId, id);
    if (before === null) return null;
    refuseInactive(id, before);
    if (before.isPaused) {
      await endPause(tx, id);
      await enqueueWebhookChange(tx, eshopId, id);
    }
    return { webhook: await readBack(tx, eshopId, id), changed: before.isPaused };
  });
}

/** Ends the pause of a webhook now, if it is paused. @param tx holds the lock on its row */
export async function endPause(tx: Sql, id: number): Promise<void> {
  await tx`
    update webhooks set pauses = pauses[:cardinality(pauses) - 1] || tstzrange(paused_at, greatest(paused_at, clock_timestamp()))
    where id = ${id} and paused_until > clock_timestamp()`;
}
