/** Controls and watches recoveries from the command line; they also run if nobody watches. */
import type { Settings } from '../config/variables.ts';
import type { Pool } from '../db/connection/pool.ts';
import { controlRecovery, type RecoveryRow, readRecovery } from '../db/recoveries/recoveries.ts';
import { isUnderWay, type RecoveryAction } from '../domain/recovery.ts';
import { counted } from '../domain/text.ts';
import type { CommandContext } from '../lib/command-line.ts';
import { createProgress } from '../lib/progress.ts';
import { UserError } from '../lib/user-error.ts';
import { SOME_FAILED } from './exit-codes.ts';
import { minute } from './layout.ts';
import { withDatabase } from './open-database.ts';
import { recoveryLine, recoveryRecord, recoveryStatus } from './recovery-record.ts';
import { watched } from './watched.ts';

/** The polling interval, in milliseconds. */
const RECOVERY_POLL_INTERVAL_MS = 1_000;

export const noSuchRecovery = (id: string) => new UserError(`There is no recovery ${id}.`);

/** Shows progress: a bar on a terminal, otherwise a line for each change, as JSON for programs. */
function createView(print: CommandContext['print'], json: boolean) {
  const terminal = process.stderr.isTTY && !json;
  const progress = createProgress(!terminal);
  let before = '';
  return {
    show(row: RecoveryRow): void {
      const { state, done, failed, superseded, left, estimatedEndAt } = recoveryStatus(row);
      if (terminal && isUnderWay(row.state)) {
        const end = estimatedEndAt === null || left === 0 ? '' : `, until about ${minute(estimatedEndAt)}`;
        const text = `${state}${failed === 0 ? '' : `, ${failed} failed`}${end}`;
        const ended = done + failed + superseded;
        progress.show(ended, ended + left, text);
        return;
      }
      progress.stop();
      const line = json ? JSON.stringify(recoveryRecord(row)) : recoveryLine(row);
      if (line !== before) print(line);
      before = line;
    },
    stop: () => progress.stop(),
  };
}

/** @throws UserError when it did not deliver everything, or on Ctrl-C */
export async function watchRecovery(
  settings: Settings,
  id: string,
  { print, json }: { readonly print: CommandContext['print']; readonly json: boolean },
): Promise<void> {
  const view = createView(print, json);
  const goesOn = `Recovery ${id} runs on its own. To follow it: waybill recoveries show ${id} --watch`;
  const last = await withDatabase(settings, (sql) =>
    watched(goesOn, RECOVERY_POLL_INTERVAL_MS, async () => {
      const row = await readRecovery(sql, id);
      if (row === null) throw noSuchRecovery(id);
      view.show(row);
      return isUnderWay(row.state) ? undefined : row;
    }),
  ).finally(() => view.stop());
  const { state, reason, failed } = recoveryStatus(last);
  if (state === 'canceled') throw new UserError(reason ?? 'It was canceled.', SOME_FAILED);
  if (failed > 0) {
    throw new UserError(
      `${counted(failed, 'delivery', 'deliveries')} failed again: start another recovery to retry ${failed === 1 ? 'it' : 'them'}.`,
      SOME_FAILED,
    );
  }
}

/**
 * @param comment the reason, shown to the e-shop
 * @throws UserError if there is no such recovery, or the action is not possible
 */
export async function control(
  sql: Pool,
  id: string,
  action: RecoveryAction,
  comment: string | undefined,
): Promise<RecoveryRow> {
  const before = await readRecovery(sql, id);
  if (before === null) throw noSuchRecovery(id);
  const { webhookId, webhookInactive, webhookDeleted } = before;
  if (action === 'resume' && webhookInactive && !webhookDeleted) {
    throw new UserError(
      `Webhook ${webhookId} is inactive. To resume its recovery: waybill webhooks activate ${webhookId}`,
    );
  }
  const done = await controlRecovery(sql, id, action, { by: 'operator', comment: comment ?? null });
  const after = await readRecovery(sql, id);
  if (after === null) throw noSuchRecovery(id);
  if (!done) throw new UserError(`Recovery ${id} is ${after.state}: there is nothing to ${action}.`);
  return after;
}
