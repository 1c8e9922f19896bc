/** A recovery is paused, resumed or canceled by an operator. */
import type { Pool } from '../db/pool.ts';
import { controlRecovery, type RecoveryRow, readRecovery } from '../db/recoveries/recoveries.ts';
import type { RecoveryAction } from '../domain/recovery.ts';
import { UserError } from '../lib/user-error.ts';
import { noSuchRecovery } from './watch-recovery.ts';

/**
 * Does it.
 * @param words why, for its e-shop to read
 * @throws UserError where there is no such recovery, or it cannot be done
 */
export async function control(
  sql: Pool,
  id: string,
  action: RecoveryAction,
  words: string | undefined,
): Promise<RecoveryRow> {
  const before = await readRecovery(sql, id);
  if (before === null) throw noSuchRecovery(id);
  const { webhookId, webhookInactive, webhookDeleted } = before;
  if (action === 'resume' && webhookInactive && !webhookDeleted) {
    throw new UserError(
      `Webhook ${webhookId} is inactive: waybill webhooks activate ${webhookId} resumes its recovery.`,
    );
  }
  const done = await controlRecovery(sql, id, action, { by: 'operator', words: words ?? null });
  const after = await readRecovery(sql, id);
  if (after === null) throw noSuchRecovery(id);
  if (!done) throw new UserError(`Recovery ${id} is ${after.state}: there is nothing to ${action}.`);
  return after;
}
