/** `waybill policy` and `waybill variables`: the configuration. */
import type { Command } from 'commander';
import { readSettings, retryPolicyOf } from '../config/config.ts';
import { meanings, variables } from '../config/variables.ts';
import type { CommandContext } from '../lib/command-line.ts';
import { policyTable } from './policy-table.ts';

export function policyCommand(command: Command, { env, print }: CommandContext): void {
  command.action(() => print(policyTable(retryPolicyOf(readSettings(env)), process.stdout.isTTY)));
}

export function variablesCommand(command: Command, { print }: CommandContext): void {
  command.action(() => print(configurationTable()));
}

/** One line per variable in Markdown, for docs/handbook/configure.md. */
export function configurationTable(): string {
  const lines = Object.entries(variables.entries).map(([name, schema]) => {
    const fallback = schema.default === undefined || schema.default === '' ? '' : `\`${schema.default}\``;
    return `| \`${name}\` | ${fallback} | ${meanings[name]} |`;
  });
  return ['| variable | default | meaning |', '|---|---|---|', ...lines].join('\n');
}
