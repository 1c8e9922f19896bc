/**
 * `waybill webhooks`: webhooks of all e-shops.
 * @module
 */
import { Command, Option } from 'commander';
import * as v from 'valibot';
import { type CommandContext, checked, json, jsonSchema } from '../command-line.ts';
import { readSettings } from '../config/config.ts';
import { listAllWebhooks, type OperatorsWebhook } from '../db/webhooks/all-webhooks.ts';
import { UserError } from '../user-error.ts';
import { minute, pairs, table } from './layout.ts';
import { listOptions, listSchema } from './list-options.ts';
import { withDatabase } from './open-database.ts';
import { webhookNumber } from './webhook-option.ts';

const optionsSchema = v.pipe(
  v.object({
    ...jsonSchema.entries,
    ...listSchema.entries,
    active: v.optional(v.literal(true)),
    inactive: v.optional(v.literal(true)),
  }),
  v.check(
    ({ active, inactive }) => active === undefined || inactive === undefined,
    '--active and --inactive exclude each other.',
  ),
);

const REASONS = {
  user: 'by its e-shop',
  retriesExhausted: 'all attempts failed',
  gone: 'answered 410',
} as const;

/** Since when it is inactive and why; empty while it is active. */
function inactivity({ active, deactivatedAt, deactivationReason }: OperatorsWebhook): string {
  if (active) return '';
  if (deactivatedAt === null || deactivationReason === null) return 'never activated';
  return `${minute(deactivatedAt)} ${REASONS[deactivationReason]}`;
}

function listTable(webhooks: readonly OperatorsWebhook[]): string {
  const rows = webhooks.map((webhook) => [
    webhook.id,
    webhook.eshopId,
    webhook.webhookType,
    webhook.active ? 'active' : 'inactive',
    webhook.pending,
    webhook.retrying,
    webhook.url,
    inactivity(webhook),
  ]);
  return table(['id', 'e-shop', 'type', 'state', 'pending', 'retrying', 'url', 'inactive since'], rows);
}

function details(webhook: OperatorsWebhook): string {
  const { active, deactivationError, deactivationDeliveryId, description } = webhook;
  return pairs([
    ['Webhook', webhook.id],
    ['E-shop', webhook.eshopId],
    ['Type', webhook.webhookType],
    ['URL', `${webhook.method} ${webhook.url}`],
    ['Payload', webhook.payloadVersion],
    ...(description === null ? [] : [['Description', description] as const]),
    ['Registered', minute(webhook.registeredAt)],
    ['State', active ? 'active' : `inactive: ${inactivity(webhook)}`],
    ...(active || deactivationError === null ? [] : [['Last error', deactivationError] as const]),
    ...(active || deactivationDeliveryId === null ? [] : [['Delivery', deactivationDeliveryId] as const]),
    [active ? 'Open' : 'Held', `${webhook.pending} pending, ${webhook.retrying} retrying`],
  ]);
}

/** As a program reads it. */
const record = ({ id, ...rest }: OperatorsWebhook) => ({ webhookId: id, ...rest });

/** The command with its subcommands. */
export function webhooksCommand({ env, print }: CommandContext): Command {
  const command = new Command('webhooks');
  const list = command
    .command('list')
    .description('webhooks of all e-shops, with what is open of their deliveries');
  for (const option of listOptions()) list.addOption(option);
  list
    .addOption(new Option('--active', 'only those that are active'))
    .addOption(new Option('--inactive', 'only those that are not: what is open is held'))
    .addOption(json())
    .action(async (given: unknown) => {
      const options = checked(optionsSchema, given);
      const { eshop, type, receiver, limit, active, inactive } = options;
      const filter = {
        eshopId: eshop,
        webhookType: type,
        receiver,
        active: active ?? (inactive === undefined ? undefined : false),
      };
      const found = await withDatabase(readSettings(env), (sql) => listAllWebhooks(sql, filter, limit));
      if (options.json) return print(JSON.stringify(found.map(record)));
      print(found.length === 0 ? 'There is no such webhook.' : listTable(found));
    });
  command
    .command('show')
    .description('one webhook, with its last deactivation')
    .argument('<id>', 'its number')
    .addOption(json())
    .action(async (number: unknown, given: unknown) => {
      const id = checked(webhookNumber('<id>'), number);
      const options = checked(jsonSchema, given);
      const [found] = await withDatabase(readSettings(env), (sql) => listAllWebhooks(sql, { id }, 1));
      if (found === undefined) throw new UserError(`There is no webhook ${id}.`);
      print(options.json ? JSON.stringify(record(found)) : details(found));
    });
  return command;
}
