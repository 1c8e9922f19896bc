/** `waybill migrate`: runs the migrations of a start, before the processes of a new release. */
import type { Command } from 'commander';
import { readSettings } from '../config/config.ts';
import { migrate } from '../db/migrate.ts';
import { counted } from '../domain/text.ts';
import { type CommandContext, noOptions, runs } from '../lib/command-line.ts';
import { databaseProblem } from '../lib/database-away.ts';
import { UserError } from '../lib/user-error.ts';

export function migrateCommand(command: Command, { env, print }: CommandContext): void {
  runs(command, noOptions, async ({ json }) => {
    const { DATABASE_URL: url } = readSettings(env);
    if (url === undefined) {
      throw new UserError('DATABASE_URL is not set: an embedded database is migrated when Waybill starts.');
    }
    const say = json ? () => {} : print;
    const applied = await migrate(url, { say }).catch((error: unknown) => {
      throw databaseProblem(error);
    });
    if (json) return print(JSON.stringify({ applied }));
    for (const name of applied) print(name);
    print(
      applied.length === 0
        ? 'The database is up to date.'
        : `${counted(applied.length, 'migration')} applied.`,
    );
  });
}
