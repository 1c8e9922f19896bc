/** `waybill recoveries`: how far recoveries have come; they are paused, resumed and canceled. */
import { Command } from 'commander';
import * as v from 'valibot';
import { readSettings } from '../config/config.ts';
import { listRecoveries, listRecoveriesUnderWay, readRecovery } from '../db/recoveries/recoveries.ts';
import type { RecoveryAction } from '../domain/recovery.ts';
import { type CommandContext, checked, json, jsonSchema } from '../lib/command-line.ts';
import { control, noSuchRecovery, watchRecovery } from './control-recovery.ts';
import { withDatabase } from './open-database.ts';
import { limitOption, limitSchema, webhookNumber } from './options.ts';
import { recoveriesTable, recoveryDetails, recoveryRecord } from './recovery-record.ts';

const idSchema = v.pipe(v.string(), v.uuid('<id> must be the id of a recovery.'), v.toLowerCase());
const listSchema = v.object({
  ...jsonSchema.entries,
  webhook: v.optional(webhookNumber('--webhook')),
  all: v.optional(v.literal(true)),
  limit: limitSchema,
});
const showSchema = v.object({ ...jsonSchema.entries, watch: v.optional(v.literal(true)) });
const controlSchema = v.object({ ...jsonSchema.entries, reason: v.optional(v.string()) });

const controls: readonly { readonly action: RecoveryAction; readonly description: string }[] = [
  { action: 'pause', description: 'start no further deliveries; those in progress continue' },
  { action: 'resume', description: 'continue where it was paused' },
  { action: 'cancel', description: 'end it for good; deliveries that it has created are still made' },
];

export function recoveriesCommand({ env, print }: CommandContext): Command {
  const command = new Command('recoveries');
  command
    .command('list')
    .description('list the recoveries in progress, of all e-shops')
    .option('--all', 'also those that have ended, newest first')
    .option('--webhook <id>', 'all of this webhook')
    .addOption(limitOption())
    .addOption(json())
    .action(async (given: unknown) => {
      const { webhook, all, limit, ...options } = checked(listSchema, given);
      const ended = all === true || webhook !== undefined;
      const rows = await withDatabase(readSettings(env), (sql) =>
        ended ? listRecoveries(sql, webhook ?? null, limit) : listRecoveriesUnderWay(sql),
      );
      if (options.json) return print(JSON.stringify(rows.map(recoveryRecord)));
      const none = ended ? 'No recoveries found.' : 'No recoveries are in progress.';
      print(rows.length === 0 ? none : recoveriesTable(rows));
    });
  command
    .command('show')
    .description('show the progress of a recovery and its estimated end')
    .argument('<id>', 'its id')
    .option('--watch', 'show the progress until it ends; Ctrl-C only stops watching')
    .addOption(json())
    .action(async (written: unknown, given: unknown) => {
      const id = checked(idSchema, written);
      const options = checked(showSchema, given);
      const settings = readSettings(env);
      if (options.watch) return await watchRecovery(settings, id, { print, json: options.json ?? false });
      const row = await withDatabase(settings, (sql) => readRecovery(sql, id));
      if (row === null) throw noSuchRecovery(id);
      print(options.json ? JSON.stringify(recoveryRecord(row)) : recoveryDetails(row));
    });
  for (const { action, description } of controls) {
    const part = command.command(action).description(description).argument('<id>', 'its id');
    if (action !== 'resume') part.option('--reason <text>', 'the reason, which its e-shop can read');
    part.addOption(json()).action(async (written: unknown, given: unknown) => {
      const id = checked(idSchema, written);
      const { reason, ...options } = checked(controlSchema, given);
      const row = await withDatabase(readSettings(env), (sql) => control(sql, id, action, reason));
      print(options.json ? JSON.stringify(recoveryRecord(row)) : recoveryDetails(row));
    });
  }
  return command;
}
