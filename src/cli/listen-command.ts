/** `waybill listen`: a receiver on this machine that registers and removes its own webhook. */
import type { Command } from 'commander';
import { problemOfSecret } from '../../receiver/src/secrets.ts';
import { type CommandContext, runs } from '../lib/command-line.ts';
import { UserError } from '../lib/user-error.ts';
import { listenOptions } from './listen-options.ts';

const HELP = `
Registers one webhook for all event types, and removes it at the end, also on Ctrl-C. If it is killed, the next one on this
machine removes the webhook. The receiver's kit verifies each request; one that fails gets a 401 with the reason.
--forward-to forwards requests unchanged, including path and query, and returns the response.

The worker must run on this machine, and DELIVERY_ALLOW_CIDRS must exempt 127.0.0.0/8, which is the default if nothing is configured.`;

export function listenCommand(command: Command, { env, print }: CommandContext): void {
  command.addHelpText('after', HELP);
  runs(command, listenOptions, async (options) => {
    const problem = options.secret === undefined ? null : problemOfSecret(options.secret, '--secret');
    if (problem !== null) throw new UserError(problem);
    const { listen } = await import('./listen.ts');
    await listen({ env, print }, options);
  });
}
