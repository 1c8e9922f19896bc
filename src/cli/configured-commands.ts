/** `waybill policy` and `waybill variables`: what is configured. */
import { Command } from 'commander';
import { readSettings, retryPolicyOf } from '../config/config.ts';
import type { CommandContext } from '../lib/command-line.ts';
import { configurationTable } from './configuration-table.ts';
import { policyTable } from './policy-table.ts';

/** The command `policy`. */
export function policyCommand({ env, print }: CommandContext): Command {
  return new Command('policy').action(() => print(policyTable(retryPolicyOf(readSettings(env)))));
}

/** The command `variables`. */
export function variablesCommand({ print }: CommandContext): Command {
  return new Command('variables').action(() => print(configurationTable()));
}
