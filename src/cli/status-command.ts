/** `waybill status`: how things are, and whether somebody is needed. */
import { Command } from 'commander';
import { readSettings } from '../config/config.ts';
import { type CommandContext, checked, json, jsonSchema } from '../lib/command-line.ts';
import { UserError } from '../lib/user-error.ts';
import { readStatus } from './read-status.ts';
import { needsOf } from './status.ts';
import { statusTable } from './status-table.ts';

/** The command. */
export function statusCommand({ env, print }: CommandContext): Command {
  return new Command('status').addOption(json()).action(async (given: unknown) => {
    const options = checked(jsonSchema, given);
    const status = await readStatus(readSettings(env));
    const needs = needsOf(status);
    print(options.json ? JSON.stringify({ ...status, needs }) : statusTable(status));
    // As an error: on stderr, with exit code 1.
    if (needs.length > 0) throw new UserError(needs.join('\n'));
  });
}
