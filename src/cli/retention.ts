/** `waybill retention`: one run of retention, which the schedule does every hour. */
import type { Command } from 'commander';
import { readSettings } from '../config/config.ts';
import { type CommandContext, runs } from '../lib/command-line.ts';
import { retain } from '../retention/retain.ts';
import { summary } from '../retention/summary.ts';
import { withDatabase } from './open-database.ts';
import { dryRunOption } from './options.ts';

export function retentionCommand(command: Command, { env, print }: CommandContext): void {
  runs(command, dryRunOption, async ({ dryRun, json }) => {
    const settings = readSettings(env);
    const done = await withDatabase(settings, (sql) =>
      retain(sql, { retentionMs: settings.RETENTION, dryRun }),
    );
    if (json) return print(JSON.stringify({ dryRun, ...done }));
    print(
      `retention: ${summary(done) ?? 'nothing to do.'}${dryRun ? ' Nothing was changed (dry run).' : ''}`,
    );
  });
}
