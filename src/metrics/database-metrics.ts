/**
 * Metrics from the database, read on request and seldom enough to cost nothing. A database that is away does not
 * delay the response.
 */

import { type DeadRowsBounds, readDeadRowsKeepers } from '../db/dead-rows.ts';
import { readHoldUp } from '../db/low-water-mark.ts';
import { mailFolder } from '../db/mail-folder.ts';
import { readNotices } from '../db/notices/overview.ts';
import { readOverdue } from '../db/overdue.ts';
import { countIncidents, countWindowsLost, readDatabase, readOpen, readOutbox } from '../db/overview.ts';
import type { Pool } from '../db/pool.ts';
import { readPartitions } from '../db/retention/partitions.ts';
import { atMost } from '../lib/at-most.ts';
import type { Metrics } from './metrics.ts';

/** How long a reading is used, in milliseconds. */
const CACHED_MS = 5_000;
/** How long a request waits for a new reading before it gets the previous one, in milliseconds. */
const READ_TIMEOUT_MS = 250;
/** An older reading is no longer shown, in milliseconds. */
const STALE_MS = 60_000;

/** Tests replace these. */
interface ReadOptions {
  readonly cachedMs?: number;
  readonly readTimeoutMs?: number;
  readonly staleMs?: number;
  readonly deadRows?: DeadRowsBounds;
}

/**
 * Reads them into the metrics.
 * @param sql its own connection, whose statements have a short deadline
 * @param isUp whether the database can be used, as for readiness
 * @returns a function that updates them
 */
export function readDatabaseMetrics(
  metrics: Metrics,
  sql: Pool,
  isUp: () => Promise<boolean>,
  { cachedMs = CACHED_MS, readTimeoutMs = READ_TIMEOUT_MS, staleMs = STALE_MS, deadRows }: ReadOptions = {},
): () => Promise<void> {
  const gauges = gaugesOf(metrics);
  let reading: Promise<void> | undefined;
  let startedAt = Number.NEGATIVE_INFINITY;
  let readAt = Number.NEGATIVE_INFINITY;
  /** When each stuck delivery was first seen, in milliseconds, on a clock that does not jump. */
  let stuckSince = new Map<string, number>();

  async function refresh(): Promise<void> {
    try {
      const found = await readAll(sql, deadRows);
      for (const [gauge, value] of gauges) gauge.set(value(found));
      const { fresh, retry, bulk, recovered, paused, undelivered, delivered } = found.outbox;
      const waits = { fresh, retry, bulk, recovered, paused, undelivered, delivered };
      for (const [waiting, count] of Object.entries(waits)) metrics.queued.set({ waiting }, count);
      for (const [waiting, seconds] of Object.entries(found.overdue.queue))
        metrics.queueDue.set({ waiting }, seconds);
      const now = performance.now();
      stuckSince = new Map(found.overdue.stuck.map((id) => [id, stuckSince.get(id) ?? now]));
      metrics.blockedStuck.set(Math.max(0, ...[...stuckSince.values()].map((since) => now - since)) / 1_000);
      const { pending, retrying, held } = found.open;
      for (const [state, count] of Object.entries({ pending, retrying, held }))
        metrics.open.set({ state }, count);
      // One series, with the present name.
      metrics.cursorsHeldUp.reset();
      metrics.cursorsHeldUp.set({ application: found.holdUp?.application ?? '' }, found.holdUp?.seconds ?? 0);
      readAt = performance.now();
    } catch {
      // Late, which the age shows, or away.
    }
  }

  /** Away means the same as for readiness; a late statement does not count. */
  async function look(): Promise<void> {
    const [up] = await Promise.all([isUp(), refresh()]);
    metrics.databaseUp.set(up ? 1 : 0);
    if (!up) readAt = Number.NEGATIVE_INFINITY;
  }

  /** Unknown is not zero. */
  function forget(): void {
    metrics.queued.reset();
    metrics.queueDue.reset();
    metrics.open.reset();
    metrics.cursorsHeldUp.reset();
    for (const gauge of [metrics.databaseReadAge, metrics.blockedStuck, ...gauges.map(([each]) => each)])
      gauge.remove();
  }

  return async () => {
    if (reading === undefined && performance.now() - startedAt >= cachedMs) {
      startedAt = performance.now();
      reading = look().finally(() => {
        reading = undefined;
      });
    }
    if (reading !== undefined) await atMost(readTimeoutMs, reading);
    const age = performance.now() - readAt;
    if (age > staleMs) forget();
    else metrics.databaseReadAge.set(age / 1_000);
  };
}

type Found = Awaited<ReturnType<typeof readAll>>;

/** One after the other, on one connection. */
const readAll = async (sql: Pool, deadRows?: DeadRowsBounds) => ({
  outbox: await readOutbox(sql),
  open: await readOpen(sql),
  overdue: await readOverdue(sql),
  windowsLost: await countWindowsLost(sql),
  holdUp: await readHoldUp(sql),
  ...(await readNotices(sql)),
  incidents: await countIncidents(sql),
  partitions: await readPartitions(sql),
  database: await readDatabase(sql),
  deadRowsKeepers: await readDeadRowsKeepers(sql, deadRows),
  mailFolder: await mailFolder(sql),
});

/** The gauges without labels, each with its value. */
function gaugesOf(metrics: Metrics): (readonly [Metrics['incidents'], (found: Found) => number])[] {
  return [
    [metrics.withoutWorkflow, ({ outbox }) => outbox.withoutWorkflow],
    [metrics.queueOldest, ({ outbox }) => outbox.oldestSeconds ?? 0],
    [metrics.blocked, ({ outbox }) => outbox.blocked],
    [metrics.blockedRecords, ({ outbox }) => outbox.blockedRecords],
    [metrics.blockedOldest, ({ outbox }) => outbox.blockedSeconds ?? 0],
    [metrics.changes, ({ outbox }) => outbox.changes],
    [metrics.changesOldest, ({ outbox }) => outbox.oldestChangeSeconds ?? 0],
    [metrics.overdue, ({ overdue }) => overdue.attemptSeconds],
    [metrics.windowsLost, ({ windowsLost }) => windowsLost],
    [metrics.holding, ({ open }) => open.holdingWebhooks],
    [metrics.incidents, ({ incidents }) => incidents],
    [metrics.mailsPending, ({ mails }) => mails.pending],
    [metrics.mailsOldest, ({ mails }) => Math.max(0, mails.oldestSeconds ?? 0)],
    [metrics.mailsRefused, ({ mails }) => mails.givenUp],
    [metrics.mailsToFiles, (found) => (found.mailFolder === null ? 0 : 1)],
    [metrics.databaseBytes, ({ database }) => database.bytes],
    [metrics.deadRowsKeepers, ({ deadRowsKeepers }) => deadRowsKeepers.length],
    [metrics.partitionsAhead, ({ partitions }) => partitions.aheadSeconds],
  ];
}
