/**
 * `waybill links`: the lists of Temporal's UI that answer what operators ask.
 * @module
 */
import { Command } from 'commander';
import * as v from 'valibot';
import { type CommandContext, checked, json, jsonSchema } from '../command-line.ts';
import { readSettings } from '../config/config.ts';
import type { Settings } from '../config/variables.ts';
import { webhooksCalling } from '../db/webhooks/receivers.ts';
import {
  EXAMPLE,
  listUrl,
  questionsAbout,
  SEARCHABLE,
  type Subject,
} from '../temporal/operator-questions.ts';
import { UserError } from '../user-error.ts';
import { withDatabase } from './open-database.ts';
import { uiUrlOf } from './temporal-ui.ts';
import { webhookNumber } from './webhook-option.ts';

const ORDER_MESSAGE =
  "--order must be an id without quotation marks and backslashes: Temporal's lists are not searched for these.";
const optionsSchema = v.object({
  ...jsonSchema.entries,
  webhook: v.optional(webhookNumber('--webhook')),
  order: v.optional(v.pipe(v.string(), v.regex(SEARCHABLE, ORDER_MESSAGE))),
  receiver: v.optional(v.pipe(v.string(), v.minLength(1, '--receiver must not be empty.'))),
});
type Options = v.InferOutput<typeof optionsSchema>;

async function subjectOf(settings: Settings, { webhook, order, receiver }: Options): Promise<Subject> {
  const subject = {
    ...EXAMPLE,
    webhookId: webhook ?? EXAMPLE.webhookId,
    entityId: order ?? EXAMPLE.entityId,
  };
  if (receiver === undefined) return subject;
  const receiverWebhookIds = await withDatabase(settings, (sql) => webhooksCalling(sql, receiver));
  if (receiverWebhookIds.length === 0) throw new UserError(`No webhook calls ${receiver}.`);
  return { ...subject, receiverWebhookIds };
}

/** What to do next, in lines for people. */
function hints(options: Options, uiUrl: string | null): string[] {
  const names = ['webhook', 'order', 'receiver'] as const;
  const examples = names.filter((name) => options[name] === undefined).map((name) => `--${name}`);
  return [
    ...(examples.length === 0 ? [] : [`Of what is not named an example is shown: ${examples.join(', ')}.`]),
    ...(uiUrl === null ? ["For links set TEMPORAL_UI_URL to the address of Temporal's UI."] : []),
  ];
}

/** The command. */
export function linksCommand({ env, print }: CommandContext): Command {
  return new Command('links')
    .option('--webhook <id>', 'number of a webhook')
    .option('--order <id>', 'an order, or whatever record, as the e-shop calls it')
    .option('--receiver <host>', 'a host that webhooks call, with its port or without')
    .addOption(json())
    .action(async (given: unknown) => {
      const options = checked(optionsSchema, given);
      const settings = readSettings(env);
      const uiUrl = await uiUrlOf(settings);
      const links = questionsAbout(await subjectOf(settings, options)).map((question) => ({
        ...question,
        url: uiUrl === null ? null : listUrl(uiUrl, settings.TEMPORAL_NAMESPACE, question.query),
      }));
      if (options.json) return print(JSON.stringify(links));
      for (const { question, query, url } of links) {
        print([question, `  ${query}`, ...(url === null ? [] : [`  ${url}`]), ''].join('\n'));
      }
      for (const hint of hints(options, uiUrl)) print(hint);
    });
}
