/**
 * Metrics that only the database knows, read on request and seldom enough to cost nothing. A database that is away
 * keeps nobody waiting.
 */
import { databaseAnswers } from '../db/health.ts';
import { mailFolder } from '../db/mail-folder.ts';
import {
  countIncidents,
  type MailOverview,
  type OpenOverview,
  type OutboxOverview,
  readMails,
  readOpen,
  readOutbox,
} from '../db/overview.ts';
import type { Pool } from '../db/pool.ts';
import { readPartitions } from '../db/retention/partitions.ts';
import { atMost } from '../lib/at-most.ts';
import type { Metrics } from './metrics.ts';

/** What was read is good for so long, in milliseconds. */
const CACHED_MS = 5_000;
/** Whoever asks waits no longer than this for what is being read, and gets what was read before, in milliseconds. */
const READ_TIMEOUT_MS = 250;
/** Older than this it says nothing any more, in milliseconds. */
const STALE_MS = 60_000;

/**
 * Reads them into the metrics.
 * @param sql a connection of its own, whose statements have a short deadline
 * @param healthSql another one, on which nothing else is asked
 * @returns brings them up to date
 */
export function readDatabaseMetrics(
  metrics: Metrics,
  sql: Pool,
  healthSql: Pool,
  { cachedMs = CACHED_MS, readTimeoutMs = READ_TIMEOUT_MS, staleMs = STALE_MS } = {},
): () => Promise<void> {
  let reading: Promise<void> | undefined;
  let startedAt = Number.NEGATIVE_INFINITY;
  let readAt = Number.NEGATIVE_INFINITY;

  async function read(): Promise<void> {
    try {
      const outbox = await readOutbox(sql);
      const open = await readOpen(sql);
      const mails = await readMails(sql);
      const incidents = await countIncidents(sql);
      const partitions = await readPartitions(sql);
      const folder = await mailFolder(sql);
      showOutbox(metrics, outbox);
      showOpen(metrics, open);
      showMails(metrics, mails);
      metrics.incidents.set(incidents);
      metrics.partitionsAhead.set(partitions.aheadSeconds);
      metrics.mailsToFiles.set(folder === null ? 0 : 1);
      readAt = performance.now();
    } catch {
      // Late, which its age says, or away.
    }
  }

  /** Away is what readiness calls so, not a statement that was late. */
  async function look(): Promise<void> {
    const [up] = await Promise.all([databaseAnswers(healthSql), read()]);
    metrics.databaseUp.set(up ? 1 : 0);
    if (!up) readAt = Number.NEGATIVE_INFINITY;
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
    if (age > staleMs) forget(metrics);
    else metrics.databaseReadAge.set(age / 1_000);
  };
}

function showOutbox(metrics: Metrics, outbox: OutboxOverview): void {
  const { fresh, handedBack: requeued, recovered } = outbox;
  for (const [waiting, count] of Object.entries({ fresh, requeued, recovered })) {
    metrics.outbox.set({ waiting }, count);
  }
  metrics.outboxOldest.set(outbox.oldestSeconds ?? 0);
  metrics.inOrder.set(outbox.inOrder);
  metrics.inOrderRecords.set(outbox.recordsInOrder);
  metrics.inOrderOldest.set(outbox.inOrderSeconds ?? 0);
  metrics.outboxMoving.set(outbox.moving ? 1 : 0);
  metrics.changes.set(outbox.changes);
  metrics.changesOldest.set(outbox.oldestChangeSeconds ?? 0);
}

function showOpen(metrics: Metrics, { pending, retrying, held, holdingWebhooks }: OpenOverview): void {
  for (const [state, count] of Object.entries({ pending, retrying, held }))
    metrics.open.set({ state }, count);
  metrics.holding.set(holdingWebhooks);
}

function showMails(metrics: Metrics, { owed, oldestSeconds, refusedLately }: MailOverview): void {
  metrics.mailsUnsent.set(owed);
  metrics.mailsOldest.set(Math.max(0, oldestSeconds ?? 0));
  metrics.mailsRefused.set(refusedLately);
}

/** Unknown is not zero. */
function forget(metrics: Metrics): void {
  metrics.outbox.reset();
  metrics.open.reset();
  for (const gauge of [
    metrics.databaseReadAge,
    metrics.outboxOldest,
    metrics.inOrder,
    metrics.inOrderRecords,
    metrics.inOrderOldest,
    metrics.outboxMoving,
    metrics.changes,
    metrics.changesOldest,
    metrics.holding,
    metrics.incidents,
    metrics.mailsUnsent,
    metrics.mailsOldest,
    metrics.mailsRefused,
    metrics.mailsToFiles,
    metrics.partitionsAhead,
  ]) {
    gauge.remove();
  }
}
