/** `waybill retention`: one run of retention, which the schedule does every hour. */
import type { Command } from 'commander';
import { readSettings } from '../config/config.ts';
import type { Pool } from '../db/connection/pool.ts';
import type { Retained } from '../domain/retention-result.ts';
import { type CommandContext, runs } from '../lib/command-line.ts';
import { UserError } from '../lib/user-error.ts';
import { retain } from '../retention/retain.ts';
import { RetentionFailed } from '../retention/steps.ts';
import { summary } from '../retention/summary.ts';
import { withDatabase } from './open-database.ts';
import { dryRunOption } from './options.ts';

export function retentionCommand(command: Command, { env, print }: CommandContext): void {
  runs(command, dryRunOption, async ({ dryRun, json }) => {
    const settings = readSettings(env);
    const tell = (done: Retained) => {
      if (json) return print(JSON.stringify({ dryRun, ...done }));
      print(
        `retention: ${summary(done) ?? 'nothing to do.'}${dryRun ? ' Nothing was changed (dry run).' : ''}`,
      );
    };
    const work = (sql: Pool) => retain(sql, { retentionMs: settings.RETENTION, dryRun });
    // The second connection sees which session the first waits for.
    const run = withDatabase(settings, work, 2);
    tell(
      await run.catch((error: unknown) => {
        if (!(error instanceof RetentionFailed)) throw error;
        tell(error.done);
        throw new UserError(error.message);
      }),
    );
  });
}
