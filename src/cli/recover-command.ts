/** `waybill recover`: redelivers a webhook's lost events, by a durable workflow. */
import type { Command } from 'commander';
import * as v from 'valibot';
import { readSettings, retryPolicyOf } from '../config/config.ts';
import type { Pool } from '../db/connection/pool.ts';
import { beginRecovery, countRecovery, measuredPace } from '../db/recoveries/recoveries.ts';
import { listAllWebhooks } from '../db/webhooks/all-webhooks.ts';
import { duration } from '../domain/duration.ts';
import {
  estimatedDurationMs,
  lostSince,
  recoverable,
  recoveryOfWebhook,
  usuallyRecovered,
} from '../domain/recovery.ts';
import type { RetryPolicy } from '../domain/retry-policy.ts';
import { counted } from '../domain/text.ts';
import { argument, type CommandContext, flag, optional, runs } from '../lib/command-line.ts';
import { UserError } from '../lib/user-error.ts';
import { watchRecovery } from './control-recovery.ts';
import { minute } from './layout.ts';
import { withDatabase } from './open-database.ts';
import { noSuchWebhook, separated, time, webhookNumber } from './options.ts';

const INCLUDE_MESSAGE = `--include must be some of ${recoverable.join(', ')}, separated by commas.`;
const since = (name: string) =>
  v.pipe(
    time(name),
    v.check((moment) => moment.getTime() <= Date.now(), `${name} must not be in the future.`),
  );
const include = v.pipe(
  v.string(),
  v.transform(separated),
  v.array(v.picklist(recoverable, INCLUDE_MESSAGE), INCLUDE_MESSAGE),
  v.transform((named) => recoverable.filter((name) => named.includes(name))),
);
const recoverOptions = v.pipe(
  v.object({
    id: argument('<webhook id>', 'its number', webhookNumber),
    since: optional(
      '--since <time>',
      'events at or after this time; default: from as long before its last deactivation as a delivery is retried',
      since,
    ),
    until: optional('--until <time>', 'events before this time; default: now', time),
    include: optional(
      '--include <kinds>',
      `${recoverable.join(', ')}; missed: no delivery, since the webhook was inactive or did not exist; default: ${usuallyRecovered.join(',')}, but nothing from before the webhook existed`,
      include,
    ),
    dryRun: flag(
      '--dry-run',
      'only count the events and estimate the time; works for an inactive webhook, too',
    ),
    watch: flag('--watch', 'show the progress until it ends; Ctrl-C only stops watching'),
  }),
  v.check(
    ({ since, until }) => until === undefined || since === undefined || since < until,
    '--until must be later than --since.',
  ),
  v.check(({ dryRun, watch }) => !(dryRun && watch), '--dry-run and --watch cannot be combined.'),
);
type Options = Omit<v.InferOutput<typeof recoverOptions>, 'id'>;

/** Begins a recovery; a dry run only counts, even for an inactive webhook. @throws UserError if it cannot begin */
async function recover(sql: Pool, webhookId: number, options: Options, { windowMs }: RetryPolicy) {
  const { since, until = null, include, dryRun } = options;
  const [webhook] = await listAllWebhooks(sql, { id: webhookId }, 1);
  if (webhook === undefined) throw noSuchWebhook(webhookId);
  const { deactivatedAt: at, deactivationDeliveryId: deliveryId, registeredAt } = webhook;
  const deactivatedAt = at && lostSince({ at, deliveryId }, registeredAt, windowMs);
  const search = recoveryOfWebhook({ since, include }, { registeredAt, deactivatedAt });
  if (search === null) throw new UserError(`Webhook ${webhookId} has never been deactivated: give --since.`);
  if (until !== null && until <= search.since)
    throw new UserError(`--until must be later than ${search.since.toISOString()}, when the period begins.`);
  if (!dryRun && !webhook.active)
    throw new UserError(
      `Webhook ${webhookId} is inactive. Activate it first: waybill webhooks activate ${webhookId}`,
    );
  const input = { eshopId: webhook.eshopId, webhookId, until, ...search };
  const done = dryRun ? await countRecovery(sql, input) : await beginRecovery(sql, input);
  if (done.kind === 'busy')
    throw new UserError(
      `Recovery ${done.recoveryId} of this webhook is still looking for its events. Wait until it has found them, or cancel it.`,
    );
  const pace = await measuredPace(sql, webhookId);
  return { ...done, ...search, estimatedDurationMs: estimatedDurationMs(done.found.count, pace) };
}
type Answer = Awaited<ReturnType<typeof recover>>;

/** "1840 events, from 2026-11-20 18:00 to 2026-11-21 05:59, in about 21 s" */
function extent({ found, estimatedDurationMs: ms }: Answer): string {
  const { count, firstAt, lastAt } = found;
  const span = firstAt === null || lastAt === null ? '' : `, from ${minute(firstAt)} to ${minute(lastAt)}`;
  return `${counted(count, 'event')}${span}${count === 0 ? '' : `, in about ${duration(ms)}`}`;
}

function record(webhookId: number, { found, kind, since, include, ...answer }: Answer) {
  const { count, firstAt: first, lastAt: last } = found;
  return { ...answer, known: kind === 'known', webhookId, since, include, count, first, last };
}

export function recoverCommand(command: Command, { env, print }: CommandContext): void {
  command.addHelpText(
    'after',
    '\nA recovery runs on its own once started. The same command again returns the recovery that is running.' +
      '\nExit code: 0 started, or with --watch all delivered; 1 could not be started; 2 with --watch: not all delivered.',
  );
  runs(command, recoverOptions, async ({ id, json, ...options }) => {
    const settings = readSettings(env);
    const answer = await withDatabase(settings, (sql) => recover(sql, id, options, retryPolicyOf(settings)));
    const { recoveryId, kind } = answer;
    if (json) print(JSON.stringify(record(id, answer)));
    else if (recoveryId === null) print(`${extent(answer)}. Nothing was recovered (dry run).`);
    else print(`Recovery ${recoveryId}${kind === 'known' ? ' is already running' : ''}: ${extent(answer)}.`);
    if (recoveryId === null) return;
    if (options.watch) return await watchRecovery(settings, recoveryId, { print, json });
    if (!json) print(`It runs on its own. To follow it: waybill recoveries show ${recoveryId} --watch`);
  });
}
