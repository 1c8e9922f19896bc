/**
 * The operators' command `waybill`: e-shops, their users, the master key, the demonstration, and the retry policy in force.
 * @module
 */
import { Command } from 'commander';
import { demoCommand } from '../../demo/command.ts';
import type { CommandContext } from '../command-line.ts';
import { readSettings, retryPolicyOf } from '../config/config.ts';
import { version } from '../version.ts';
import { configurationTable } from './configuration-table.ts';
import { eshopCommand } from './eshop-command.ts';
import { keysCommand } from './keys-command.ts';
import { policyTable } from './policy-table.ts';
import { reconcileCommand } from './reconcile.ts';
import { retentionCommand } from './retention.ts';
import { userCommand } from './user-command.ts';

/**
 * The whole command.
 * @example await waybillCommand({ env: process.env, print: console.log }).parseAsync();
 */
export function waybillCommand(context: CommandContext): Command {
  const command = new Command('waybill')
    .description('Manages a Waybill: the one in DATA_DIR, or the one on the database at DATABASE_URL.')
    .version(version);
  command.addCommand(eshopCommand(context));
  command.addCommand(userCommand(context));
  command.addCommand(keysCommand(context));
  command.addCommand(demoCommand(context));
  command.addCommand(reconcileCommand(context));
  command.addCommand(retentionCommand(context));
  command
    .command('policy')
    .description('the waits between the attempts of a delivery, with the configured values')
    .action(() => context.print(policyTable(retryPolicyOf(readSettings(context.env)))));
  command
    .command('variables')
    .description('all environment variables, with their defaults and meanings')
    .action(() => context.print(configurationTable()));
  return command;
}
