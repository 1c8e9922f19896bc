/** The options of `waybill listen`. */
import * as v from 'valibot';
import { payloadVersions } from '../domain/decimal.ts';
import { eventTypeNames } from '../domain/event-types.ts';
import { withoutProblem } from '../domain/fields.ts';
import { webhookMethods } from '../domain/webhook-fields.ts';
import { urlProblem } from '../domain/webhook-url.ts';
import { flag, option, optional, wholeNumber } from '../lib/command-line.ts';
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

export const listenOptions = v.object({
  eshop: eshopOption,
  types: optional(
    // The former name of the option still works.
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
