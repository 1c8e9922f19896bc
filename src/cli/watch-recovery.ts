/**
 * Shows how far a recovery comes, until it ends. It needs nobody who watches: whoever stops watching stops nothing else.
 */
import { createProgress } from '../../demo/progress.ts';
import type { Settings } from '../config/variables.ts';
import { type RecoveryRow, readRecovery } from '../db/recoveries/recoveries.ts';
import { isUnderWay } from '../domain/recovery.ts';
import { counted } from '../domain/words.ts';
import type { CommandContext } from '../lib/command-line.ts';
import { UserError } from '../lib/user-error.ts';
import { pause, untilInterrupted } from './interruption.ts';
import { minute } from './layout.ts';
import { withDatabase } from './open-database.ts';
import { recoveryLine, recoveryRecord, recoveryStatus } from './recovery-record.ts';

/** Between two looks, in milliseconds. */
const RECOVERY_POLL_INTERVAL_MS = 1_000;
/** When not everything was delivered. */
const INCOMPLETE = 2;

/** There is no recovery of that id. */
export const noSuchRecovery = (id: string) => new UserError(`There is no recovery ${id}.`);

/** Shows a look: a bar on a terminal, else a line for each change; for a program one as JSON. */
function createView(print: CommandContext['print'], json: boolean) {
  const terminal = process.stderr.isTTY && !json;
  const progress = createProgress(!terminal);
  let before = '';
  return {
    show(row: RecoveryRow): void {
      const { state, done, failed, left, estimatedEndAt } = recoveryStatus(row);
      if (terminal && isUnderWay(row.state)) {
        const end = estimatedEndAt === null || left === 0 ? '' : `, until about ${minute(estimatedEndAt)}`;
        const text = `${state}${failed === 0 ? '' : `, ${failed} failed`}${end}`;
        progress.show(done + failed, done + failed + left, text);
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

/**
 * Watches.
 * @throws UserError when it did not deliver everything, or on Ctrl-C
 */
export async function watchRecovery(
  settings: Settings,
  id: string,
  { print, json }: { readonly print: CommandContext['print']; readonly json: boolean },
): Promise<void> {
  const view = createView(print, json);
  const goesOn = `Recovery ${id} runs on its own. To follow it: waybill recoveries show ${id} --watch`;
  const last = await untilInterrupted(goesOn, (signal) =>
    withDatabase(settings, async (sql) => {
      try {
        for (;;) {
          const row = await readRecovery(sql, id);
          if (row === null) throw noSuchRecovery(id);
          view.show(row);
          if (!isUnderWay(row.state)) return row;
          await pause(RECOVERY_POLL_INTERVAL_MS, signal);
        }
      } finally {
        view.stop();
      }
    }),
  );
  const { state, reason, failed } = recoveryStatus(last);
  if (state === 'canceled') throw new UserError(reason ?? 'It was canceled.', INCOMPLETE);
  if (failed > 0) {
    throw new UserError(
      `${counted(failed, 'delivery', 'deliveries')} failed again: start another recovery to retry ${failed === 1 ? 'it' : 'them'}.`,
      INCOMPLETE,
    );
  }
}
