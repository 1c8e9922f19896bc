/** Bulk actions on deliveries: started, watched, canceled. They run in Temporal, unwatched, too. */
import { randomUUID } from 'node:crypto';
import type { Settings } from '../config/variables.ts';
import { listAllWebhooks } from '../db/webhooks/all-webhooks.ts';
import { countOpen, type OpenCounts } from '../db/webhooks/open-in-temporal.ts';
import type { ActionName } from '../domain/operator-action.ts';
import { counted } from '../domain/text.ts';
import type { CommandContext } from '../lib/command-line.ts';
import { createProgress } from '../lib/progress.ts';
import { pause } from '../lib/settled.ts';
import { untilInterrupted } from '../lib/shutdown.ts';
import { UserError } from '../lib/user-error.ts';
import {
  type BulkActions,
  type BulkFilter,
  type BulkStatus,
  bulkQuery,
  createBulkActions,
} from '../temporal/bulk-actions.ts';
import type { BulkOptions } from './bulk-options.ts';
import { withDatabase } from './open-database.ts';
import { withTemporal } from './open-temporal.ts';

interface Output {
  readonly print: CommandContext['print'];
  readonly json: boolean;
}

interface BulkRequest {
  readonly action: ActionName;
  readonly filter: BulkOptions;
  readonly input: { readonly reason: string; readonly by: string };
  readonly dryRun: boolean;
}

/** The most webhooks of one receiver: more than a query may name. */
const MAX_WEBHOOKS_PER_QUERY = 1_000;
/** The polling interval, in milliseconds. */
const JOB_POLL_INTERVAL_MS = 500;
/** How long a new job may not be visible yet, in milliseconds. */
const JOB_VISIBLE_TIMEOUT_MS = 10_000;
const INCOMPLETE = 2;
const IDENTITY = 'waybill';
/** Distinguishes our jobs from other batch operations in the namespace. */
const PREFIX = 'waybill-';

const deliveries = (count: number) => counted(count, 'delivery', 'deliveries');
const noSuchJob = (jobId: string) => new UserError(`There is no job ${jobId}.`);

/** "running: 12 of 40 done, 1 failed" */
function line({ state, total, done, failed }: BulkStatus): string {
  return `${state}: ${done} of ${total} done${failed === 0 ? '' : `, ${failed} failed`}`;
}

/**
 * The webhooks that call a receiver. Deliveries do not name the host if the server did not know the attribute.
 * @throws UserError if there are none, or more than a query may name
 */
async function webhooksCalling(
  settings: Settings,
  receiver: string,
  { eshop: eshopId, webhook: id }: Pick<BulkOptions, 'eshop' | 'webhook'>,
): Promise<readonly number[]> {
  const found = await withDatabase(settings, (sql) =>
    listAllWebhooks(sql, { receiver, eshopId, id }, MAX_WEBHOOKS_PER_QUERY + 1),
  );
  if (found.length === 0) {
    throw new UserError(
      id === undefined ? `No webhook calls ${receiver}.` : `Webhook ${id} does not call ${receiver}.`,
    );
  }
  if (found.length > MAX_WEBHOOKS_PER_QUERY) {
    const most = MAX_WEBHOOKS_PER_QUERY.toLocaleString('en-US');
    throw new UserError(`More than ${most} webhooks call ${receiver}: give an e-shop or a webhook, too.`);
  }
  return found.map(({ id }) => id);
}

async function bulkFilter(settings: Settings, filter: BulkOptions): Promise<BulkFilter> {
  const { eshop, webhook, receiver, type, order, ...rest } = filter;
  const calling = receiver === undefined ? undefined : await webhooksCalling(settings, receiver, filter);
  return {
    eshopId: eshop,
    webhookIds: calling ?? (webhook === undefined ? undefined : [webhook]),
    webhookType: type,
    entityId: order,
    ...rest,
  };
}

/**
 * How many the database knows, asked after the list: what ends in between is missing here. Null for a state or a
 * time, by which only the list filters, and without a database, which the action does not need.
 */
async function countInDatabase(settings: Settings, filter: BulkFilter): Promise<OpenCounts | null> {
  const { state, since, until } = filter;
  if (state !== undefined || since !== undefined || until !== undefined) return null;
  return await withDatabase(settings, (sql) => countOpen(sql, filter)).catch((error: unknown) => {
    if (error instanceof UserError) return null;
    throw error;
  });
}

/** Which matching deliveries the job does not reach, in a sentence each; empty if it reaches all. */
function notReached(listed: number, open: OpenCounts | null): string {
  if (open === null) return '';
  const { inTemporal, queued } = open;
  return [
    ...(inTemporal > listed
      ? [
          `\nTemporal lists only ${listed} of the ${deliveries(inTemporal)} open in the database: the others are not acted on. Their entries are late or lost, or their workflows are paused in Temporal. Give their ids instead.`,
        ]
      : []),
    ...(queued > 0
      ? [
          `\nNot acted on: ${deliveries(queued)} in the queue, without a workflow. Give their ids instead, or deactivate the webhook to hold all of them.`,
        ]
      : []),
  ].join('');
}

async function watch(bulk: BulkActions, jobId: string, { print, json }: Output): Promise<void> {
  const progress = createProgress(json);
  const goesOn = `Job ${jobId} continues on its own. To follow it: waybill deliveries jobs show ${jobId}`;
  const status = await untilInterrupted(goesOn, async (signal) => {
    const began = performance.now();
    try {
      for (;;) {
        const found = await bulk.read(jobId);
        if (found === null && performance.now() - began > JOB_VISIBLE_TIMEOUT_MS) throw noSuchJob(jobId);
        if (found !== null && found.state !== 'running') return found;
        if (found !== null) progress.show(found.done + found.failed, found.total, 'Deliveries');
        await pause(JOB_POLL_INTERVAL_MS, signal);
      }
    } finally {
      progress.stop();
    }
  });
  print(json ? JSON.stringify(status) : line(status));
  if (status.state === 'failed') throw new UserError(`It was stopped: ${status.reason}.`, INCOMPLETE);
}

export async function actOnAll(
  settings: Settings,
  { action, filter, input, dryRun }: BulkRequest,
  output: Output,
): Promise<void> {
  const { print, json } = output;
  await withTemporal(settings, async (client, { taskQueue }) => {
    const bulk = createBulkActions(client, IDENTITY);
    const selected = await bulkFilter(settings, filter);
    const query = bulkQuery(taskQueue, selected);
    const count = await bulk.count(query);
    const found = await countInDatabase(settings, selected);
    const missed = notReached(count, found);
    const { inTemporal: open = null, queued = null } = found ?? {};
    if (dryRun || count === 0) {
      const message = `${deliveries(count)} found. Nothing was changed${dryRun ? ' (dry run)' : ''}.${missed}`;
      print(json ? JSON.stringify({ jobId: null, query, count, open, queued }) : message);
      if (!dryRun) requireAllReached(missed);
      return;
    }
    const jobId = `${PREFIX}${action}-${randomUUID()}`;
    await bulk.start({ jobId, query, action, input }).catch((error: unknown) => {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new UserError(`Temporal rejected the start of the job: ${reason}.`);
    });
    print(
      json
        ? JSON.stringify({ jobId, query, count, open, queued })
        : `Job ${jobId}: ${deliveries(count)}.${missed}`,
    );
    await watch(bulk, jobId, output);
    requireAllReached(missed);
  });
}

/** @throws UserError with the exit code of work that is not complete: a script must notice it */
function requireAllReached(missed: string): void {
  if (missed !== '') throw new UserError('Not all of them were acted on: see above.', INCOMPLETE);
}

export async function showJob(settings: Settings, jobId: string, output: Output): Promise<void> {
  await withTemporal(settings, async (client) => {
    const bulk = createBulkActions(client, IDENTITY);
    if ((await bulk.read(jobId)) === null) throw noSuchJob(jobId);
    await watch(bulk, jobId, output);
  });
}

/** Cancels a job: no further deliveries are acted on; earlier actions stay. */
export async function cancelJob(
  settings: Settings,
  jobId: string,
  { reason, print, json }: Output & { readonly reason: string },
): Promise<void> {
  await withTemporal(settings, async (client) => {
    const bulk = createBulkActions(client, IDENTITY);
    const before = await bulk.read(jobId);
    if (before === null) throw noSuchJob(jobId);
    if (before.state !== 'running' || !(await bulk.stop(jobId, reason))) {
      throw new UserError(`Job ${jobId} has ended as ${before.state}: there is nothing to cancel.`);
    }
    print(
      json
        ? JSON.stringify({ jobId, canceled: true })
        : `Job ${jobId} was canceled after ${deliveries(before.done)}.`,
    );
  });
}
