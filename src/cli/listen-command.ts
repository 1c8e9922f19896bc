/** `waybill listen`: a receiver on this machine that registers itself and takes itself away. */
import { Command } from 'commander';
import { problemOfSecret } from '../../receiver/src/secrets.ts';
import { payloadVersions } from '../domain/decimal.ts';
import { webhookMethods } from '../domain/webhook.ts';
import { type CommandContext, checked, json } from '../lib/command-line.ts';
import { UserError } from '../lib/user-error.ts';
import { listenSchema } from './listen-options.ts';
import { eshopOption } from './options.ts';

const HELP = `
Registers one webhook per event type, and removes them when it ends, also on Ctrl-C. If it was killed, the next one on this
machine removes them. Each request is verified with the code of the receiver's kit; one that does not verify gets a 401 with
the reason. --forward-to forwards requests unchanged, path and query included, and returns the response.

The worker must run on this machine, and DELIVERY_ALLOW_CIDRS must exempt 127.0.0.0/8, as npm start does when nothing is configured.`;

export function listenCommand({ env, print }: CommandContext): Command {
  return new Command('listen')
    .addOption(eshopOption())
    .option('--type <types>', 'event types, separated by commas; default: all that the contract allows')
    .option('--forward-to <url>', 'URL to forward deliveries to, on this machine or elsewhere')
    .option('--method <method>', webhookMethods.join(' or '), 'POST')
    .option('--payload-version <version>', payloadVersions.join(' or '), 'v2')
    .option('--port <n>', 'port on loopback; 0 takes a free one', '0')
    .option(
      '--secret <secret>',
      'secret of the webhooks, so that the program behind --forward-to can keep its own; default: a new one',
    )
    .option('--body', 'print the bodies as well')
    .addOption(json())
    .addHelpText('after', HELP)
    .action(async (given: unknown) => {
      const options = checked(listenSchema, given);
      const problem = options.secret === undefined ? null : problemOfSecret(options.secret, '--secret');
      if (problem !== null) throw new UserError(problem);
      const { listen } = await import('./listen.ts');
      await listen({ env, print }, options);
    });
}
