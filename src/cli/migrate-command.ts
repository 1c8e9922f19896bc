/** `waybill migrate`: the migrations of every start, run before the processes of a new release. */
import { Command } from 'commander';
import { readSettings } from '../config/config.ts';
import { migrate } from '../db/migrate.ts';
import { counted } from '../domain/words.ts';
import { type CommandContext, checked, json, jsonSchema } from '../lib/command-line.ts';
import { databaseProblem } from '../lib/database-away.ts';
import { UserError } from '../lib/user-error.ts';

export function migrateCommand({ env, print }: CommandContext): Command {
  return new Command('migrate').addOption(json()).action(async (given: unknown) => {
    const options = checked(jsonSchema, given);
    const { DATABASE_URL: url } = readSettings(env);
    if (url === undefined) {
      throw new UserError('DATABASE_URL is not set: an embedded database is migrated when Waybill starts.');
    }
    const say = options.json ? () => {} : print;
    const applied = await migrate(url, { say }).catch((error: unknown) => {
      throw databaseProblem(error);
    });
    if (options.json) return print(JSON.stringify({ applied }));
    for (const name of applied) print(name);
    print(
      applied.length === 0
        ? 'The database is up to date.'
        : `${counted(applied.length, 'migration')} applied.`,
    );
  });
}
