/** `waybill eshop delete`: removes an e-shop that leaves. */
import { open, rm } from 'node:fs/promises';
import type { Command } from 'commander';
import * as v from 'valibot';
import { noSuchEshop } from '../app/accounts.ts';
import { readSettings } from '../config/config.ts';
import type { Settings } from '../config/variables.ts';
import { findEshop, setDisabled } from '../db/accounts/eshops.ts';
import type { Pool } from '../db/connection/pool.ts';
import { exportEshop } from '../db/maintenance/eshop-export.ts';
import {
  countHoldings,
  countUnderWay,
  type EshopHoldings,
  endWork,
  removeEshop,
} from '../db/maintenance/eshop-removal.ts';
import { pauseAttribution } from '../domain/operator-pause.ts';
import { counted } from '../domain/text.ts';
import { argument, type CommandContext, optional, runs } from '../lib/command-line.ts';
import { pollUntil } from '../lib/poll-until.ts';
import { createProgress } from '../lib/progress.ts';
import { untilInterrupted } from '../lib/shutdown.ts';
import { reasonOf, UserError } from '../lib/user-error.ts';
import { withPatientDatabase } from './open-database.ts';
import { confirmationOptions, eshopNumber, isDryRun } from './options.ts';

const deleteOptions = v.object({
  eshop: argument('<eshop>', 'number of the e-shop', eshopNumber),
  export: optional(
    '--export <file>',
    'first write all its data to this new file, as NDJSON; also with --dry-run',
    v.pipe(v.string(), v.minLength(1, '--export must be a file.')),
  ),
  ...confirmationOptions,
});

/**
 * The interval between counts of deliveries, recoveries and changes under way, and how long none may end until the
 * command gives up. Too low: a restarting worker counts as missing. Too high: people wait for a worker that is
 * missing.
 */
const POLLING = { everyMs: 500, patienceMs: 60_000 };

const HELP = `
The e-shop loses access to the API, its webhooks are deleted, and their open deliveries end as canceled, with their workflows, which
needs a running worker. Then all its data are deleted. If interrupted, run it again.`;

export function addDeletion(command: Command, { env, print }: CommandContext): void {
  command.addHelpText('after', HELP);
  runs(command, deleteOptions, async ({ eshop, json, export: path, ...options }) => {
    const dryRun = isDryRun(options);
    const settings = readSettings(env);
    await withPatientDatabase(settings, async (sql) => {
      const record = await findEshop(sql, eshop);
      if (record === null) throw noSuchEshop(eshop);
      const holdings = await countHoldings(sql, eshop);
      const end = async () => {
        if (!dryRun) await ended(sql, settings, eshop, json);
      };
      const exported =
        path === undefined ? await end().then(() => null) : await exportTo(sql, eshop, path, end);
      if (!dryRun) {
        // The file exists by now, and is complete: with --export, the next run would be refused.
        const again =
          path === undefined ? 'run it again' : `${path} is complete: run it again without --export`;
        await untilInterrupted(`It was interrupted; ${again} to delete the rest.`, (signal) =>
          removeEshop(sql, eshop, signal),
        );
      }
      if (json) {
        return print(
          JSON.stringify({ eshopId: eshop, name: record.name, deleted: !dryRun, exported, ...holdings }),
        );
      }
      if (exported !== null) print(`${counted(exported, 'line')} written to ${path}.`);
      const subject = `E-shop ${eshop} (${record.name}), with ${describeHoldings(holdings)}`;
      print(
        dryRun ? `${subject}, would be deleted. Nothing was changed (dry run).` : `${subject}, was deleted.`,
      );
    });
  });
}

function describeHoldings(holdings: EshopHoldings): string {
  const { users, webhooks, products, orders, receivings, returns, stockMovements, events, deliveries } =
    holdings;
  const open = holdings.openDeliveries;
  return [
    counted(users, 'user'),
    counted(webhooks, 'webhook'),
    counted(products, 'product'),
    counted(orders, 'order'),
    counted(receivings, 'receiving'),
    counted(returns, 'return'),
    counted(stockMovements, 'stock movement'),
    counted(events, 'event'),
    `${counted(deliveries, 'delivery', 'deliveries')}${open === 0 ? '' : ` (${open} open)`}`,
  ].join(', ');
}

/** @throws UserError if an operator has paused workflows of the e-shop: waiting for them would never end */
async function requireUnpaused(settings: Settings, eshopId: number): Promise<void> {
  // Loading the client takes longer than everything else.
  const [{ withTemporal }, { pausedWorkflows }] = await Promise.all([
    import('./open-temporal.ts'),
    import('../temporal/paused.ts'),
  ]);
  const { count, example } = await withTemporal(
    settings,
    (client, { taskQueue }) => pausedWorkflows(client, taskQueue, eshopId),
    // The work is ended by workers: this process may be unable to reach Temporal.
  ).catch(() => ({ count: 0, example: null }));
  if (count === 0) return;
  const exampleText = example === null ? '' : `: ${example.workflowId}, ${pauseAttribution(example)}`;
  throw new UserError(
    `${counted(count, `workflow of e-shop ${eshopId} is`, `workflows of e-shop ${eshopId} are`)} paused in Temporal${exampleText}. Unpause ${count === 1 ? 'it' : 'them'}, then run this again.`,
  );
}

/** Ends everything under way, and waits until it has ended. */
async function ended(sql: Pool, settings: Settings, eshopId: number, silent: boolean): Promise<void> {
  if ((await countUnderWay(sql, eshopId)) > 0) await requireUnpaused(settings, eshopId);
  await setDisabled(sql, eshopId, true);
  await endWork(sql, eshopId);
  const progress = createProgress(silent);
  await untilInterrupted('Only its webhooks were deleted: run it again.', async (signal) => {
    let maximum = 0;
    let least = Number.POSITIVE_INFINITY;
    async function look(): Promise<number> {
      const remaining = await countUnderWay(sql, eshopId);
      maximum = Math.max(maximum, remaining);
      if (remaining > 0) progress.show(maximum - remaining, maximum, 'ended');
      least = Math.min(least, remaining);
      return least;
    }
    try {
      const remaining = await pollUntil(look, (remaining) => remaining === 0, { ...POLLING, signal });
      if (remaining === 0) return;
      await requireUnpaused(settings, eshopId);
      throw new UserError(
        `${counted(remaining, 'delivery or change', 'deliveries and changes')} of e-shop ${eshopId} are still in progress. Check that workers are running, then run it again.`,
      );
    } finally {
      progress.stop();
    }
  });
}

/**
 * Writes all data of an e-shop into a new file that nobody else can read.
 * @param whenOpen awaited before anything is written: nothing has happened if the file cannot be created
 * @returns how many lines
 * @throws UserError if the file exists, or cannot be written
 */
async function exportTo(
  sql: Pool,
  eshopId: number,
  path: string,
  whenOpen: () => Promise<void>,
): Promise<number> {
  const file = await open(path, 'wx', 0o600).catch((error: unknown) => {
    throw new UserError(`${path} could not be created: ${reasonOf(error)}.`);
  });
  try {
    await whenOpen();
    let lines = 0;
    await exportEshop(sql, eshopId, async (rows) => {
      await file.write(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
      lines += rows.length;
    });
    await file.sync();
    return lines;
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}
