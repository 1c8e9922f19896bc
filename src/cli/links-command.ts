/** `waybill links`: links to lists in Temporal's UI that answer operators' questions. */
import type { Command } from 'commander';
import * as v from 'valibot';
import { readSettings } from '../config/config.ts';
import { type CommandContext, optional, runs } from '../lib/command-line.ts';
import { EXAMPLE, listUrl, operatorQuestions, SEARCHABLE } from '../temporal/operator-questions.ts';
import { uiUrlOf } from './open-database.ts';
import { webhookNumber } from './options.ts';

const ORDER_MESSAGE =
  '--order must not contain quotation marks or backslashes: Temporal cannot search for them.';
/** The valid hosts of a URL. */
const HOST = /^[^\s"\\/?#@]+$/;
const HOST_MESSAGE = '--receiver must be a host such as shop.example or shop.example:8443.';
const linksOptions = v.object({
  webhook: optional('--webhook <id>', 'number of a webhook', webhookNumber),
  order: optional(
    '--order <id>',
    'identifier of an order or other record, as given by the e-shop',
    v.pipe(v.string(), v.regex(SEARCHABLE, ORDER_MESSAGE)),
  ),
  receiver: optional(
    '--receiver <host>',
    'a host that webhooks call, with or without a port',
    v.pipe(v.string(), v.regex(HOST, HOST_MESSAGE)),
  ),
});

export function linksCommand(command: Command, { env, print }: CommandContext): void {
  runs(command, linksOptions, async ({ json, webhook, order, receiver }) => {
    const settings = readSettings(env);
    const uiUrl = await uiUrlOf(settings);
    const subject = {
      webhookId: webhook ?? EXAMPLE.webhookId,
      entityId: order ?? EXAMPLE.entityId,
      receiver: receiver ?? EXAMPLE.receiver,
    };
    const links = operatorQuestions(subject).map((question) => ({
      ...question,
      url: uiUrl === null ? null : listUrl(uiUrl, settings.TEMPORAL_NAMESPACE, question.query),
    }));
    if (json) return print(JSON.stringify(links));
    for (const { question, query, url } of links) {
      print([question, `  ${query}`, ...(url === null ? [] : [`  ${url}`]), ''].join('\n'));
    }
    const missing = Object.entries({ webhook, order, receiver }).filter(([, given]) => given === undefined);
    const examples = missing.map(([name]) => `--${name}`);
    if (examples.length > 0)
      print(`The links use examples for options that you did not give: ${examples.join(', ')}.`);
    if (uiUrl === null) print("To get links, set TEMPORAL_UI_URL to the address of Temporal's UI.");
  });
}
