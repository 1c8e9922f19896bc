/** Starts, watches and cancels bulk actions on deliveries. They run in Temporal, even if nobody watches. */
import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { retryPolicyOf } from '../config/config.ts';
import type { Settings } from '../config/variables.ts';
import type { Pool, Sql } from '../db/connection/pool.ts';
import { findOpen, type OpenFilter } from '../db/deliveries/open-in-temporal.ts';
import { listAllWebhooks } from '../db/webhooks/all-webhooks.ts';
import type { ActionName, RequestAction } from '../domain/operator-action.ts';
import { counted } from '../domain/text.ts';
import type { CommandContext } from '../lib/command-line.ts';
import { createProgress } from '../lib/progress.ts';
import { untilInterrupted } from '../lib/shutdown.ts';
import { UserError } from '../lib/user-error.ts';
import { type BulkActions, type BulkStatus, bulkQuery, createBulkActions } from '../temporal/bulk-actions.ts';
import { createOperatorActions } from '../temporal/operator-actions.ts';
import { causeOf } from '../temporal/rejection.ts';
import type { BulkOptions } from './bulk-options.ts';
import { SOME_FAILED } from './exit-codes.ts';
import { second } from './layout.ts';
import { withDatabase } from './open-database.ts';
import { withTemporal } from './open-temporal.ts';
import { MAX_UNASKED_DELIVERIES } from './options.ts';
import { watched } from './watched.ts';

interface Output {
  readonly print: CommandContext['print'];
  readonly json: boolean;
}

interface BulkRequest {
  readonly action: ActionName;
  readonly filter: BulkOptions;
  readonly input: { readonly reason: string; readonly by: string };
  readonly dryRun: boolean;
  /** Whether any number may be given up. */
  readonly yes: boolean;
}

/** The maximum number of webhooks of one receiver: more than a query may name. */
const MAX_WEBHOOKS_PER_QUERY = 1_000;
/** The polling interval, in milliseconds. */
const JOB_POLL_INTERVAL_MS = 500;
/** How long it may take until a new job is visible, in milliseconds. */
const JOB_VISIBLE_TIMEOUT_MS = 10_000;
const IDENTITY = 'waybill';
/** Distinguishes our jobs from other batch operations in the namespace. */
const PREFIX = 'waybill-';

const deliveries = (count: number) => counted(count, 'delivery', 'deliveries');
const noSuchJob = (jobId: string) => new UserError(`There is no job ${jobId}.`);

/** " since 2026-11-20 19:33:00Z": the times as the command read them; empty without any. */
const period = ({ since, until }: BulkOptions) =>
  `${since === undefined ? '' : ` since ${second(since)}`}${until === undefined ? '' : ` until ${second(until)}`}`;

/** "running: 12 of 40 done, 1 failed" */
function line(counts: Pick<BulkStatus, 'total' | 'done' | 'failed'> & { readonly state: string }): string {
  const { state, total, done, failed } = counts;
  return `${state}: ${done} of ${total} done${failed === 0 ? '' : `, ${failed} failed`}`;
}

/**
 * The webhooks that call a receiver. Deliveries do not name the host if the server did not know the attribute.
 * @throws UserError if there are none, or more than a query may name
 */
async function webhooksCalling(
  sql: Sql,
  receiver: string,
  { eshop: eshopId, webhook: id }: Pick<BulkOptions, 'eshop' | 'webhook'>,
): Promise<readonly number[]> {
  const webhooks = await listAllWebhooks(sql, { receiver, eshopId, id }, MAX_WEBHOOKS_PER_QUERY + 1);
  if (webhooks.length === 0) {
    throw new UserError(
      id === undefined ? `No webhook calls ${receiver}.` : `Webhook ${id} does not call ${receiver}.`,
    );
  }
  if (webhooks.length > MAX_WEBHOOKS_PER_QUERY) {
    const limit = MAX_WEBHOOKS_PER_QUERY.toLocaleString('en-US');
    throw new UserError(`More than ${limit} webhooks call ${receiver}: give an e-shop or a webhook, too.`);
  }
  return webhooks.map(({ id }) => id);
}

async function bulkFilter(sql: Sql, filter: BulkOptions): Promise<OpenFilter> {
  const { eshop, webhook, receiver, type, order, ...rest } = filter;
  const calling = receiver === undefined ? undefined : await webhooksCalling(sql, receiver, filter);
  return {
    eshopId: eshop,
    webhookIds: calling ?? (webhook === undefined ? undefined : [webhook]),
    webhookType: type,
    entityId: order,
    ...rest,
  };
}

/** A sentence about deliveries that Temporal's list lacks; empty if none, or if a filter by state or time is set. */
function lackingInList(listed: number, inTemporal: number, { state, since, until }: OpenFilter): string {
  if (inTemporal <= listed || state !== undefined || since !== undefined || until !== undefined) return '';
  return `\nTemporal lists only ${listed} of the ${deliveries(inTemporal)} open in the database: the others are not acted on. Their entries are late or lost, or their workflows are paused in Temporal. Give their ids instead.`;
}

/**
 * Acts on deliveries in the queue one after another, since the job does not cover them.
 * @param ids newest first: giving up an older one would release the next of its record
 * @returns the number of deliveries that did not accept the action
 */
async function actInQueue(
  request: RequestAction,
  ids: readonly string[],
  { action, input }: Pick<BulkRequest, 'action' | 'input'>,
  { print, json }: Output,
): Promise<number> {
  const progress = createProgress(json);
  let done = 0;
  let failed = 0;
  const reasons = new Map<string, number>();
  const message = 'Interrupted. What has been done stays, and no job was started.';
  await untilInterrupted(message, async (signal) => {
    for (const id of ids) {
      signal.throwIfAborted();
      progress.show(done + failed, ids.length, 'Deliveries in the queue');
      const { accepted, message: reason } = await request(action, id, input);
      if (accepted) done += 1;
      else {
        failed += 1;
        reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
      }
    }
  }).finally(() => progress.stop());
  const result = { state: 'queue', total: ids.length, done, failed };
  print(json ? JSON.stringify({ ...result, reasons: Object.fromEntries(reasons) }) : line(result));
  if (!json) for (const [reason, count] of reasons) print(`  ${deliveries(count)}: ${reason}`);
  return failed;
}

/** @returns the number of deliveries that did not accept the action */
async function watch(bulk: BulkActions, jobId: string, { print, json }: Output): Promise<number> {
  const progress = createProgress(json);
  const goesOn = `Job ${jobId} continues on its own. To follow it: waybill deliveries jobs show ${jobId}`;
  const began = performance.now();
  const status = await watched(goesOn, JOB_POLL_INTERVAL_MS, async () => {
    const job = await bulk.read(jobId);
    if (job === null && performance.now() - began > JOB_VISIBLE_TIMEOUT_MS) throw noSuchJob(jobId);
    if (job !== null && job.state !== 'running') return job;
    if (job !== null) progress.show(job.done + job.failed, job.total, 'Deliveries');
    return undefined;
  }).finally(() => progress.stop());
  print(json ? JSON.stringify(status) : line(status));
  if (status.state === 'failed') throw new UserError(`It was stopped: ${status.reason}.`, SOME_FAILED);
  return status.failed;
}

/** The deliveries that a filter selects: those in Temporal, for a job, and the ids of those in the queue. */
async function select(sql: Pool, client: Client, taskQueue: string, filter: BulkOptions) {
  const selected = await bulkFilter(sql, filter);
  const query = bulkQuery(taskQueue, selected);
  const count = await createBulkActions(client, IDENTITY).count(query);
  const { inTemporal: open, queued: ids } = await findOpen(sql, selected);
  const counts = { query, count, open, queued: ids.length };
  return { counts, ids, total: count + ids.length, missed: lackingInList(count, open, selected) };
}

/**
 * Acts on those in the queue, then starts a job for those in Temporal, and watches it. In this order, giving up one
 * in Temporal does not release the next of its record from the queue.
 */
async function actOnSelected(
  { counts, ids, missed }: Awaited<ReturnType<typeof select>>,
  { action, filter, input }: BulkRequest,
  { client, request }: { readonly client: Client; readonly request: RequestAction },
  output: Output,
): Promise<void> {
  const { query, count } = counts;
  const bulk = createBulkActions(client, IDENTITY);
  const jobId = count === 0 ? null : `${PREFIX}${action}-${randomUUID()}`;
  const place = jobId === null ? 'In Temporal' : `Job ${jobId}`;
  const message = `${place}: ${deliveries(count)}${period(filter)}.${missed}`;
  output.print(output.json ? JSON.stringify({ jobId, ...counts }) : message);
  let failed = ids.length === 0 ? 0 : await actInQueue(request, ids, { action, input }, output);
  if (jobId !== null) {
    await bulk.start({ jobId, query, action, input }).catch((error: unknown) => {
      throw new UserError(`Temporal rejected the start of the job: ${causeOf(error)}.`);
    });
    failed += await watch(bulk, jobId, output);
  }
  if (failed > 0) throw new UserError(`${deliveries(failed)} did not accept it.`, SOME_FAILED);
}

export async function actOnAll(settings: Settings, asked: BulkRequest, output: Output): Promise<void> {
  const { action, filter, dryRun, yes } = asked;
  const { print, json } = output;
  const act = async (sql: Pool, client: Client, taskQueue: string) => {
    const selected = await select(sql, client, taskQueue, filter);
    const { counts, ids, total, missed } = selected;
    const found = `${deliveries(total)}${period(filter)}`;
    if (dryRun || total === 0) {
      const inQueue = ids.length === 0 ? '' : `, ${ids.length} of them in the queue`;
      const message = `${found} found${inQueue}. Nothing was changed${dryRun ? ' (dry run)' : ''}.${missed}`;
      print(json ? JSON.stringify({ jobId: null, ...counts }) : message);
    } else {
      if (action === 'giveUp' && !yes && total > MAX_UNASKED_DELIVERIES)
        throw new UserError(
          `${found} would end as canceled, which cannot be undone. Use --yes to give them up.`,
        );
      const request = createOperatorActions({ client, sql, policy: retryPolicyOf(settings) });
      await actOnSelected(selected, asked, { client, request }, output);
    }
    // Scripts must be able to notice this.
    if (missed !== '' && !dryRun)
      throw new UserError('Some of the deliveries were not acted on.', SOME_FAILED);
  };
  await withDatabase(settings, (sql) =>
    withTemporal(settings, (client, { taskQueue }) => act(sql, client, taskQueue)),
  );
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
