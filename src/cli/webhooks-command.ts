/** `waybill webhooks`: webhooks of all e-shops. */
import type { Command } from 'commander';
import * as v from 'valibot';
import { readSettings, retryPolicyOf } from '../config/config.ts';
import { listAllWebhooks, type OperatorsWebhook } from '../db/webhooks/all-webhooks.ts';
import { duration } from '../domain/duration.ts';
import { shortTypes } from '../domain/event-types.ts';
import { incidentOf } from '../domain/incident.ts';
import type { RetryPolicy } from '../domain/retry-policy.ts';
import { masked } from '../domain/static-headers.ts';
import { counted } from '../domain/text.ts';
import { factsOf, stateOf, whyDeactivated } from '../domain/webhook-facts.ts';
import { nameOf } from '../domain/webhook-name.ts';
import { typesFact, typesOf } from '../domain/webhook-types.ts';
import { type CommandContext, flag, runs, subcommands } from '../lib/command-line.ts';
import { addCreate } from './create-webhook.ts';
import { minute, pairs, table } from './layout.ts';
import { withDatabase } from './open-database.ts';
import { limitNote, listOptions, noSuchWebhook, oneWebhook } from './options.ts';
import { addActivate, addDeactivate, addPause, addResume, addTest } from './switch-webhook.ts';

const webhookFilters = v.pipe(
  v.object({
    ...listOptions,
    active: flag('--active', 'only active ones'),
    inactive: flag('--inactive', 'only inactive ones, whose open deliveries are held'),
    failing: flag(
      '--failing',
      'only those that are failing and not paused, or were deactivated because they failed, with their last errors',
    ),
    paused: flag('--paused', 'only paused ones, whose open deliveries are held'),
  }),
  v.check(({ active, inactive }) => !(active && inactive), '--active and --inactive cannot be combined.'),
);

/** Its state, with the reason, and since or until when. */
function stateText(webhook: OperatorsWebhook): string {
  const { active, pausedUntil, incidentSince, deactivatedAt, deactivationReason: reason } = webhook;
  const failing = incidentSince === null ? [] : [`failing since ${failingSince(webhook)}`];
  const paused = pausedUntil === null ? [] : [`paused until ${minute(pausedUntil)}`];
  if (active) return [...failing, ...paused].join(', ') || 'active';
  const state = stateOf({ active, isFailing: false, isPaused: false, reason });
  if (deactivatedAt === null || reason === null) return `${state}: never activated`;
  return `${state}: ${minute(deactivatedAt)} ${whyDeactivated[reason]}`;
}

/** Since when an active webhook has been failing; empty if it is not. */
function failingSince({ incidentSince, incidentFailures }: OperatorsWebhook): string {
  if (incidentSince === null || incidentFailures === null) return '';
  return `${minute(incidentSince)}, ${counted(incidentFailures, 'failure')}`;
}

/** How long its oldest due delivery has waited; null if none is due. */
function waitOf({ oldestWaitSeconds: seconds }: OperatorsWebhook): string | null {
  return seconds === null ? null : duration(seconds * 1_000);
}

function listTable(webhooks: readonly OperatorsWebhook[]): string {
  const rows = webhooks.map((webhook) => ({
    ...firstCells(webhook),
    waits: waitOf(webhook) ?? '',
    type: shortTypes(typesOf(webhook)),
    url: webhook.url,
  }));
  return table(rows, { type: 6, name: 12, state: 32, url: 23 });
}

/** A table with the last errors, to be compared. Webhooks that fail have no wait, and fail for any type. */
function failingTable(webhooks: readonly OperatorsWebhook[]): string {
  const rows = webhooks.map((webhook) => ({
    ...firstCells(webhook),
    receiver: new URL(webhook.url).host,
    'last error': lastErrorOf(webhook)?.replace(/^HTTP (?=\d)/, '') ?? '',
  }));
  return table(rows, { name: 12, receiver: 14, state: 32, 'last error': 20 });
}

const firstCells = (webhook: OperatorsWebhook) => ({
  id: webhook.id,
  'e-shop': webhook.eshopId,
  name: nameOf(webhook),
  state: stateText(webhook),
  pending: webhook.pending,
  retrying: webhook.retrying,
});

/** The last error of its incident, or of the one that deactivated it. */
const lastErrorOf = ({ active, incidentError, deactivationError }: OperatorsWebhook) =>
  active ? incidentError : deactivationError;

function details(webhook: OperatorsWebhook, policy: RetryPolicy): string {
  const { active, deactivationError, deactivationDeliveryId } = webhook;
  const incident = incidentOf(policy, webhook);
  const deactivationAt = incident?.deactivationAt ?? null;
  return pairs([
    ['Webhook', webhook.id],
    ['E-shop', webhook.eshopId],
    typesFact(webhook),
    ['URL', `${webhook.method} ${webhook.url}`],
    ...factsOf(webhook, webhook.headerNames),
    ['Registered', minute(webhook.registeredAt)],
    ['State', stateText(webhook)],
    ...(incident === null
      ? []
      : ([
          ['Last error', incident.lastError ?? 'none recorded'],
          ['Deactivation', deactivationAt === null ? 'not due' : minute(new Date(deactivationAt))],
        ] as const)),
    ['Last error', active ? null : deactivationError],
    ['Delivery', active ? null : deactivationDeliveryId],
    [
      active && webhook.pausedUntil === null ? 'Open' : 'Held',
      `${webhook.pending} pending, ${webhook.retrying} retrying`,
    ],
    ['Oldest waits', waitOf(webhook)],
  ]);
}

function record(webhook: OperatorsWebhook, policy: RetryPolicy) {
  const { id, headerNames, incidentSince, incidentFailures, incidentError, incidentRetries, ...rest } =
    webhook;
  const incident = incidentOf(policy, { incidentSince, incidentFailures, incidentError, incidentRetries });
  const headers = headerNames === null ? null : masked(headerNames);
  return { webhookId: id, ...rest, headers, incident };
}

export function webhooksCommand(command: Command, context: CommandContext): void {
  const { env, print } = context;
  const part = subcommands(command, {
    list: 'list webhooks of all e-shops, with their open deliveries; those whose oldest delivery has waited longest come first',
    show: 'show a webhook with its incident and last deactivation',
    create: 'create a webhook for an e-shop: checked as in the API, and skipped if it exists already',
    activate:
      'resume deliveries: those held are attempted within seconds (50,000 take about 15 minutes), unless their time limit has passed',
    deactivate: 'stop deliveries: new events create none, and open ones are held',
    pause: 'hold deliveries until a time, without loss: new events still create them; or move the end',
    resume: 'end the pause of a webhook: held deliveries continue within seconds',
    test: 'send one signed request with a sample of one of its types, whether active or not; it has no consequences',
  });
  const list = part('list');
  runs(list, webhookFilters, async ({ eshop, type, receiver, limit, json, ...only }) => {
    const { active, inactive, failing, paused } = only;
    const filter = {
      eshopId: eshop,
      webhookType: type,
      receiver,
      active: active ? true : inactive ? false : undefined,
      troubled: failing,
      paused,
      longestWaitFirst: true,
    };
    const settings = readSettings(env);
    const policy = retryPolicyOf(settings);
    const webhooks = await withDatabase(settings, (sql) => listAllWebhooks(sql, filter, limit));
    if (json) return print(JSON.stringify(webhooks.map((webhook) => record(webhook, policy))));
    print(
      webhooks.length === 0
        ? 'No webhooks match.'
        : `${(failing ? failingTable : listTable)(webhooks)}${limitNote(webhooks.length, limit)}`,
    );
  });
  runs(part('show'), oneWebhook, async ({ id, json }) => {
    const settings = readSettings(env);
    const policy = retryPolicyOf(settings);
    const [found] = await withDatabase(settings, (sql) => listAllWebhooks(sql, { id }, 1));
    if (found === undefined) throw noSuchWebhook(id);
    print(json ? JSON.stringify(record(found, policy)) : details(found, policy));
  });
  addCreate(part('create'), context);
  addActivate(part('activate'), context);
  addDeactivate(part('deactivate'), context);
  addPause(part('pause'), context);
  addResume(part('resume'), context);
  addTest(part('test'), context);
}
