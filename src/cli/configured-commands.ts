/** `waybill policy` and `waybill variables`: what is configured. */
import { Command } from 'commander';
import { readSettings, retryPolicyOf } from '../config/config.ts';
import { variables } from '../config/variables.ts';
import type { CommandContext } from '../lib/command-line.ts';
import { policyTable } from './policy-table.ts';

export function policyCommand({ env, print }: CommandContext): Command {
  return new Command('policy').action(() => print(policyTable(retryPolicyOf(readSettings(env)))));
}

export function variablesCommand({ print }: CommandContext): Command {
  return new Command('variables').action(() => print(configurationTable()));
}

function meaningOf(pipe: readonly { readonly type: string; readonly description?: unknown }[]): string {
  const found = pipe.find((item) => item.type === 'description')?.description;
  return typeof found === 'string' ? found : '';
}

/** One line per variable in Markdown, as docs/handbook/configure.md shows it. */
export function configurationTable(): string {
  const lines = Object.entries(variables.entries).map(([name, schema]) => {
    const fallback = schema.default === undefined || schema.default === '' ? '' : `\`${schema.default}\``;
    return `| \`${name}\` | ${fallback} | ${meaningOf(schema.wrapped.pipe)} |`;
  });
  return ['| variable | default | meaning |', '|---|---|---|', ...lines].join('\n');
}
