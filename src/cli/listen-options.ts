/** The options of `waybill listen`. */
import * as v from 'valibot';
import { payloadVersions } from '../domain/decimal.ts';
import { eventTypeNames } from '../domain/event-types.ts';
import { urlProblem, webhookMethods } from '../domain/webhook.ts';
import { jsonSchema, whole } from '../lib/command-line.ts';
import { eshopSchema } from './options.ts';

const TYPE_MESSAGE = '--type must be event types separated by commas, such as CREATE_ORDER,UPDATE_ORDER.';
export const listenSchema = v.object({
  ...jsonSchema.entries,
  ...eshopSchema.entries,
  type: v.optional(
    v.pipe(
      v.string(),
      v.transform((text) => [...new Set(text.split(',').map((part) => part.trim()))]),
      v.array(v.picklist(eventTypeNames, TYPE_MESSAGE), TYPE_MESSAGE),
    ),
  ),
  forwardTo: v.optional(
    v.pipe(
      v.string(),
      v.rawCheck(({ dataset, addIssue }) => {
        const problem = dataset.typed ? urlProblem(dataset.value) : null;
        if (problem !== null) addIssue({ message: `--forward-to ${problem}.` });
      }),
    ),
  ),
  method: v.picklist(webhookMethods, '--method must be POST or GET.'),
  payloadVersion: v.picklist(payloadVersions, `--payload-version must be ${payloadVersions.join(' or ')}.`),
  port: whole('port', 65_535, 0),
  secret: v.optional(v.string()),
  body: v.optional(v.literal(true)),
});
export type ListenOptions = v.InferOutput<typeof listenSchema>;
