/** `waybill listen`: a receiver on this machine that registers and removes its own webhook. */
import type { Command } from 'commander';
import * as v from 'valibot';
import { problemOfSecret } from '../../receiver/src/secrets.ts';
import { payloadVersions } from '../domain/decimal.ts';
import { eventTypeNames } from '../domain/event-types.ts';
import { withoutProblem } from '../domain/fields.ts';
import { webhookMethods } from '../domain/webhook-fields.ts';
import { urlProblem } from '../domain/webhook-url.ts';
import { type CommandContext, flag, option, optional, runs, wholeNumber } from '../lib/command-line.ts';
import { UserError } from '../lib/user-error.ts';
import { eshopOption, separated } from './options.ts';

const TYPE_MESSAGE = '--types must be event types separated by commas, such as CREATE_ORDER,UPDATE_ORDER.';
const types = v.pipe(
  v.string(),
  v.transform((text) => [...new Set(separated(text))]),
  v.array(v.picklist(eventTypeNames, TYPE_MESSAGE), TYPE_MESSAGE),
);
const forwardUrl = v.pipe(
  v.string(),
  withoutProblem((url) => {
    const problem = urlProblem(url);
    return problem === null ? null : `--forward-to ${problem}.`;
  }),
);

const listenOptions = v.object({
  eshop: eshopOption,
  types: optional(
    // The former name stays.
    '--type, --types <types>',
    'event types, separated by commas; default: all that the contract allows',
    types,
  ),
  forwardTo: optional(
    '--forward-to <url>',
    'URL to forward deliveries to, on this machine or elsewhere',
    forwardUrl,
  ),
  method: option(
    '--method <method>',
    webhookMethods.join(' or '),
    v.picklist(webhookMethods, '--method must be POST or GET.'),
    'POST',
  ),
  payloadVersion: option(
    '--payload-version <version>',
    payloadVersions.join(' or '),
    v.picklist(payloadVersions, `--payload-version must be ${payloadVersions.join(' or ')}.`),
    'v2',
  ),
  port: option('--port <n>', 'port on loopback; 0 takes a free one', wholeNumber(65_535, 0), '0'),
  secret: optional(
    '--secret <secret>',
    'secret of the webhook, such as the one that the program behind --forward-to has; default: a new one',
    v.string(),
  ),
  body: flag('--body', 'print the bodies as well'),
});
export type ListenOptions = v.InferOutput<typeof listenOptions> & { readonly json: boolean };

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
