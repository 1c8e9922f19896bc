/** `waybill deliveries`: deliveries of all e-shops. */
import type { Command } from 'commander';
import * as v from 'valibot';
import { readSettings, retryPolicyOf } from '../config/config.ts';
import type { Settings } from '../config/variables.ts';
import {
  findDeliveries,
  findWindowsLost,
  type OperatorsDelivery,
} from '../db/deliveries/deliveries-of-eshops.ts';
import {
  type AttemptLogRow,
  type DeliveryTarget,
  deliveryTarget,
  findDelivery,
} from '../db/deliveries/delivery-log.ts';
import { deliveryStates, isOpen } from '../domain/delivery-state.ts';
import { briefDuration } from '../domain/duration.ts';
import { attribution, heldBy, type OperatorAction } from '../domain/operator-action.ts';
import { pauseAttribution, type TemporalPause } from '../domain/operator-pause.ts';
import { maxAttempts, type RetryPolicy } from '../domain/retry-policy.ts';
import { statusFilter, statusFilterOf } from '../domain/status-filter.ts';
import { oneLine } from '../domain/text.ts';
import { argument, type CommandContext, flag, option, optional, runs } from '../lib/command-line.ts';
import { UserError } from '../lib/user-error.ts';
import { deliveryUrl } from '../temporal/operator-questions.ts';
import { addActions } from './action-commands.ts';
import { minute, pairs, second, table } from './layout.ts';
import { uiUrlOf, withDatabase } from './open-database.ts';
import { idOf, limitNote, listOptions, nonEmptyText, time, webhookNumber } from './options.ts';

const state = v.picklist(deliveryStates, `--state must be one of ${deliveryStates.join(', ')}.`);
const status = v.pipe(
  v.string(),
  v.check(
    (text) => v.is(statusFilter, text),
    '--status must be a status of three digits, 2xx, 3xx, 4xx, 5xx or none.',
  ),
);
const deliveryFilters = v.pipe(
  v.object({
    ...listOptions,
    webhook: optional('--webhook <id>', 'only to this webhook', webhookNumber),
    order: optional('--order <id>', 'only about this order or other record', nonEmptyText),
    state: optional('--state <state>', deliveryStates.join(', '), state),
    since: optional('--since <time>', 'of events at or after this time', time),
    until: optional('--until <time>', 'of events before this time', time),
    status: optional(
      '--status <status>',
      'whose last attempt got this HTTP status, such as 403, 5xx, or none',
      status,
    ),
    anyAttempt: flag('--any-attempt', 'with --status: if any attempt got it, not only the last'),
    windowLost: flag(
      '--window-lost',
      'only those that expired because of a failure of Waybill itself; combines with --eshop only',
    ),
  }),
  v.check(({ status, anyAttempt }) => !anyAttempt || status !== undefined, '--any-attempt needs --status.'),
  v.check(
    ({ windowLost, type, receiver, webhook, order, state, since, until, status }) =>
      !windowLost ||
      [type, receiver, webhook, order, state, since, until, status].every((given) => given === undefined),
    '--window-lost combines with --eshop only.',
  ),
);

const oneDelivery = v.object({ id: argument('<id>', 'its id', idOf('delivery')) });

/** "retrying 3/21": with the number of attempts made, while more may follow. */
function stateOf({ state, attemptsMade }: OperatorsDelivery, policy: RetryPolicy): string {
  const mayGoOn = state === 'held' || isOpen(state);
  return mayGoOn && attemptsMade > 0 ? `${state} ${attemptsMade}/${maxAttempts(policy)}` : state;
}

/** "2 h"; empty if no attempt is planned. */
function timeUntil(planned: Date | null, now: Date): string {
  if (planned === null) return '';
  const ms = planned.getTime() - now.getTime();
  return ms <= 0 ? 'due' : briefDuration(ms);
}

/** The error of its last attempt, beginning with the HTTP status if there was one; empty before the first. */
function lastResultOf({ lastError, lastStatus }: OperatorsDelivery): string {
  return lastError?.replace(/^HTTP (?=\d)/, '') ?? (lastStatus === null ? '' : String(lastStatus));
}

/** Leaves out columns that have the same value in all rows because of a filter. */
function listTable(
  deliveries: readonly OperatorsDelivery[],
  filter: { readonly eshop?: number | undefined; readonly webhook?: number | undefined },
  policy: RetryPolicy,
): string {
  const now = new Date();
  const rows = deliveries.map((delivery) => ({
    id: delivery.id,
    ...(filter.eshop === undefined ? { 'e-shop': delivery.eshopId } : {}),
    ...(filter.webhook === undefined ? { webhook: delivery.webhookId } : {}),
    created: minute(delivery.createdAt),
    type: delivery.eventType,
    record: delivery.entityId,
    state: stateOf(delivery, policy),
    next: timeUntil(delivery.nextAttemptAt, now),
    'last result': lastResultOf(delivery),
  }));
  return table(rows, { type: 7, 'last result': 6, record: 5 });
}

function attemptsTable(attempts: readonly AttemptLogRow[]): string {
  return table(
    attempts.map(({ number, startedAt, durationMs, outcome, error, status }) => ({
      attempt: number,
      at: second(startedAt),
      took: durationMs === null ? '' : `${durationMs} ms`,
      result: outcome === null ? 'under way' : (error ?? (status === null ? outcome : `HTTP ${status}`)),
    })),
  );
}

/** The pause of its workflow; null if it is not paused, or Temporal does not answer. */
async function pauseInTemporal(settings: Settings, delivery: DeliveryTarget): Promise<TemporalPause | null> {
  const [{ withTemporal }, { pauseOfDelivery }] = await Promise.all([
    import('./open-temporal.ts'),
    import('../temporal/paused.ts'),
  ]);
  return await withTemporal(settings, (client) => pauseOfDelivery(client, delivery)).catch(() => null);
}

function details(delivery: OperatorsDelivery, url: string | null, pause: TemporalPause | null): string {
  const { nextAttemptAt, finishedAt, canceledBy, supersededBy, waitsFor } = delivery;
  const holder = heldBy(delivery);
  return pairs([
    ['Delivery', delivery.id],
    ['Event', `${delivery.eventType} ${delivery.entityId}, ${delivery.eventId}`],
    ['Sequence', delivery.sequence],
    ['Changed by', delivery.origin],
    ['Changed fields', delivery.changed],
    ['E-shop', delivery.eshopId],
    ['Webhook', delivery.webhookId],
    ['State', canceledBy === null ? delivery.state : `${delivery.state}, by ${canceledBy}`],
    ['Held by', holder === null ? null : attribution(holder)],
    ['Paused', pause === null ? null : `in Temporal, ${pauseAttribution(pause)}`],
    ['Waits for', waitsFor === null ? null : [waitsFor.reason, waitsFor.deliveryId].join(' ').trim()],
    ['Superseded by', supersededBy],
    ['Created', second(delivery.createdAt)],
    ['Next attempt', nextAttemptAt === null ? null : second(nextAttemptAt)],
    ['Ended', finishedAt === null ? null : second(finishedAt)],
    ['Temporal', url],
  ]);
}

/** The last response that had a body, on one line; null if none had one. */
function lastResponse(attempts: readonly AttemptLogRow[]): string | null {
  const answered = attempts.findLast(({ responseExcerpt }) => (responseExcerpt ?? '').trim() !== '');
  const { number, responseExcerpt } = answered ?? {};
  return responseExcerpt === undefined || responseExcerpt === null
    ? null
    : `Response to attempt ${number}: ${oneLine(responseExcerpt).replaceAll(/\s+/g, ' ').trim()}`;
}

function actionsTable(actions: readonly OperatorAction[]): string {
  return table(
    actions.map(({ action, at, by, reason }) => ({ action, at: second(new Date(at)), by, reason })),
  );
}

const record = ({ id, operatorStop, operatorActions, ...rest }: OperatorsDelivery) => ({
  deliveryId: id,
  ...rest,
  heldBy: heldBy({ ...rest, operatorStop, operatorActions }),
  operatorActions: operatorActions ?? [],
});

export function deliveriesCommand(command: Command, context: CommandContext): void {
  const { env, print } = context;
  const list = command.command('list').description('list deliveries of all e-shops, newest first');
  runs(list, deliveryFilters, async ({ eshop, type, webhook, order, limit, json, ...given }) => {
    const { status: lastStatus, anyAttempt, windowLost, ...rest } = given;
    const filter = {
      ...rest,
      eshopId: eshop,
      webhookId: webhook,
      webhookType: type,
      entityId: order,
      status: statusFilterOf({ lastStatus, attempts: anyAttempt ? 'any' : 'last' }),
    };
    const settings = readSettings(env);
    const found = await withDatabase(settings, (sql) =>
      windowLost ? findWindowsLost(sql, eshop, limit) : findDeliveries(sql, filter, limit),
    );
    if (json) return print(JSON.stringify(found.map(record)));
    const policy = retryPolicyOf(settings);
    if (found.length === 0) return print('No deliveries match.');
    print(`${listTable(found, { eshop, webhook }, policy)}${limitNote(found.length, limit)}`);
  });
  const show = command.command('show').description('show a delivery with its attempts');
  runs(show, oneDelivery, async ({ id, json }) => {
    const settings = readSettings(env);
    const found = await withDatabase(settings, async (sql) => {
      const target = await deliveryTarget(sql, id);
      const read = target === null ? null : await findDelivery(sql, target.eshopId, id);
      return target === null || read === null ? null : { target, ...read };
    });
    if (found === null) throw new UserError(`There is no delivery ${id}, or its webhook is deleted.`);
    const { target, attempts } = found;
    const delivery = { eshopId: target.eshopId, ...found.delivery };
    const ui = await uiUrlOf(settings);
    const url = ui === null ? null : deliveryUrl(ui, settings.TEMPORAL_NAMESPACE, target);
    const isUnderWay = delivery.finishedAt === null && !target.queued;
    const pause = isUnderWay ? await pauseInTemporal(settings, target) : null;
    if (json) return print(JSON.stringify({ ...record(delivery), pausedInTemporal: pause, url, attempts }));
    print(details(delivery, url, pause));
    const { operatorActions } = delivery;
    if (operatorActions !== null) print(`\n${actionsTable(operatorActions)}`);
    if (attempts.length > 0) print(`\n${attemptsTable(attempts)}`);
    const response = lastResponse(attempts);
    if (response !== null) print(`\n${response}`);
  });
  addActions(command, context);
  addJobs(command, context);
}

const jobId = v.pipe(v.string(), v.regex(/^waybill-[\w-]+$/, '<id> must be the id of a job.'));
const oneJob = v.object({ id: argument('<id>', 'its id', jobId) });
const cancelOptions = v.object({
  ...oneJob.entries,
  reason: option('--reason <text>', 'the reason', v.optional(v.string(), 'canceled')),
});

function addJobs(command: Command, { env, print }: CommandContext): void {
  const jobs = command
    .command('jobs')
    .description('bulk actions on deliveries: show their progress, cancel one');
  const show = jobs
    .command('show')
    .description('show the progress until it ends; Ctrl-C only stops watching');
  runs(show, oneJob, async ({ id, json }) => {
    const { showJob } = await import('./bulk-actions.ts');
    await showJob(readSettings(env), id, { print, json });
  });
  const cancel = jobs.command('cancel').description('stop a job; actions already taken are not undone');
  runs(cancel, cancelOptions, async ({ id, reason, json }) => {
    const { cancelJob } = await import('./bulk-actions.ts');
    await cancelJob(readSettings(env), id, { reason, print, json });
  });
}
