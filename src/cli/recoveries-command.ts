/** `waybill recoveries`: shows the progress of recoveries, and pauses, resumes and cancels them. */
import type { Command } from 'commander';
import * as v from 'valibot';
import { readSettings } from '../config/config.ts';
import {
  listRecoveries,
  listRecoveriesUnderWay,
  type RecoveryRow,
  readRecovery,
} from '../db/recoveries/recoveries.ts';
import { type RecoveryAction, recoveryActions } from '../domain/recovery.ts';
import { argument, type CommandContext, flag, optional, runs, subcommands } from '../lib/command-line.ts';
import { control, noSuchRecovery, watchRecovery } from './control-recovery.ts';
import { withDatabase } from './open-database.ts';
import { idOf, limitNote, limitOption, webhookNumber } from './options.ts';
import { recoveriesTable, recoveryDetails, recoveryRecord } from './recovery-record.ts';

const listOptions = v.object({
  all: flag('--all', 'also those that have ended, newest first'),
  webhook: optional('--webhook <id>', 'all of this webhook', webhookNumber),
  limit: limitOption,
});
const oneRecovery = v.object({ id: argument('<id>', 'its id', idOf('recovery')) });
const showOptions = v.object({
  ...oneRecovery.entries,
  watch: flag('--watch', 'show the progress until it ends; Ctrl-C only stops watching'),
});
const reasonOptions = v.object({
  ...oneRecovery.entries,
  reason: optional('--reason <text>', 'the reason, which its e-shop can read', v.string()),
});

const controls: Readonly<Record<RecoveryAction, string>> = {
  pause: 'start no further deliveries; those in progress continue',
  resume: 'continue where it was paused',
  cancel: 'end it for good; deliveries that it has created are still made',
};

export function recoveriesCommand(command: Command, { env, print }: CommandContext): void {
  const part = subcommands(command, {
    list: 'list the recoveries in progress, of all e-shops',
    show: 'show the progress of a recovery and its estimated end',
    ...controls,
  });
  runs(part('list'), listOptions, async ({ webhook, all, limit, json }) => {
    const ended = all || webhook !== undefined;
    const rows = await withDatabase(readSettings(env), (sql) =>
      ended ? listRecoveries(sql, webhook ?? null, limit) : listRecoveriesUnderWay(sql),
    );
    if (json) return print(JSON.stringify(rows.map(recoveryRecord)));
    const emptyText = ended ? 'No recoveries found.' : 'No recoveries are in progress.';
    const note = ended ? limitNote(rows.length, limit) : '';
    print(rows.length === 0 ? emptyText : `${recoveriesTable(rows)}${note}`);
  });
  const printed = (row: RecoveryRow, json: boolean) =>
    print(json ? JSON.stringify(recoveryRecord(row)) : recoveryDetails(row));
  runs(part('show'), showOptions, async ({ id, watch, json }) => {
    const settings = readSettings(env);
    if (watch) return await watchRecovery(settings, id, { print, json });
    const row = await withDatabase(settings, (sql) => readRecovery(sql, id));
    if (row === null) throw noSuchRecovery(id);
    printed(row, json);
  });
  for (const action of recoveryActions) {
    const controlIt = async (id: string, json: boolean, reason?: string) =>
      printed(await withDatabase(readSettings(env), (sql) => control(sql, id, action, reason)), json);
    if (action === 'resume') runs(part(action), oneRecovery, ({ id, json }) => controlIt(id, json));
    else runs(part(action), reasonOptions, ({ id, json, reason }) => controlIt(id, json, reason));
  }
}
