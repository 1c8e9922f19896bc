/** `waybill reconcile`: one check of everything that should have a running workflow. */
import type { Command } from 'commander';
import pino from 'pino';
import { readSettings, retryPolicyOf } from '../config/config.ts';
import type { Settings } from '../config/variables.ts';
import { readOpen } from '../db/overview.ts';
import { type CommandContext, runs } from '../lib/command-line.ts';
import { createProgress, type Progress } from '../lib/progress.ts';
import { untilInterrupted } from '../lib/shutdown.ts';
import { actions, countsOf, reasons, summary } from '../reconciler/counts.ts';
import { createExecutions } from '../reconciler/executions.ts';
import { createPasses, type PassResult } from '../reconciler/passes.ts';
import type { Repair } from '../reconciler/repair.ts';
import { createDispatcher } from '../temporal/dispatcher.ts';
import { createRecoveryStarter } from '../temporal/start-recovery.ts';
import { withDatabase } from './open-database.ts';
import { withTemporal } from './open-temporal.ts';
import { dryRunOption } from './options.ts';

/** Work that is late by less than this may still be on its way, in milliseconds. */
const LATE_AFTER_MS = 60_000;

async function reconcile(
  settings: Settings,
  dryRun: boolean,
  progress: Progress,
  onRepair: (repair: Repair) => void,
  signal: AbortSignal,
): Promise<PassResult> {
  // Its repairs are printed, not logged.
  const log = pino({ level: 'error' }, pino.destination({ fd: 2, sync: true }));
  const policy = retryPolicyOf(settings);
  return await withDatabase(settings, async (sql) => {
    const { pending, retrying, held } = await readOpen(sql);
    let looked = 0;
    return await withTemporal(settings, (client, { taskQueue }) => {
      const executions = createExecutions(client, taskQueue);
      const find: typeof executions.find = (workflowId) => {
        looked += 1;
        progress.show(looked, Math.max(looked, pending + retrying + held), 'Workflows');
        return executions.find(workflowId);
      };
      return createPasses({
        sql,
        executions: { ...executions, find },
        restarter: {
          ...createDispatcher(client, taskQueue, policy),
          ...createRecoveryStarter(client, taskQueue),
        },
        log,
        graceMs: LATE_AFTER_MS,
        watch: { ended() {} },
        dryRun,
        onRepair,
        signal,
      }).everything('waybill reconcile');
    });
  });
}

/** One line per repair: the workflow, the action, and the reason. */
function line({ kind, name, action, reason, by, comment }: Repair): string {
  const workflow = Object.entries(name).map(([key, value]) => `${key} ${value}`);
  const operator = [by === undefined ? '' : ` by ${by}`, comment === undefined ? '' : `: ${comment}`].join(
    '',
  );
  return `${kind.padEnd(8)}  ${workflow.join(', ')}  ${actions[action]}  ${reasons[reason]}${operator}`;
}

export function reconcileCommand(command: Command, { env, print }: CommandContext): void {
  runs(command, dryRunOption, async ({ dryRun, json }) => {
    const progress = createProgress(json);
    const onRepair = (repair: Repair) => {
      progress.stop();
      if (!json) print(line(repair));
    };
    const message = 'Interrupted. What has been repaired stays: run it again for the rest.';
    const { looked, repairs } = await untilInterrupted(message, async (signal) => {
      const result = await reconcile(readSettings(env), dryRun, progress, onRepair, signal);
      signal.throwIfAborted();
      return result;
    }).finally(() => progress.stop());
    if (json) return print(JSON.stringify({ dryRun, looked, repairs }));
    const done = repairs.length === 0 ? 'nothing to repair' : summary(countsOf(repairs));
    print(
      `${looked} checked: ${done}.${dryRun && repairs.length > 0 ? ' Nothing was changed (dry run).' : ''}`,
    );
  });
}
