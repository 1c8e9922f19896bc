/**
 * The figures that only the database knows: read when somebody asks for them, and seldom enough to cost nothing. A database
 * that is away or slow keeps nobody waiting.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
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
import type { Figures } from './figures.ts';

/** What was read is good for so long, in milliseconds. */
const CACHED_MS = 5_000;
/** Whoever asks waits no longer than this for what is being read, and gets what was read before, in milliseconds. */
const PATIENCE_MS = 250;
/** Older than this it says nothing any more, in milliseconds. */
const STALE_MS = 60_000;

/**
 * Reads them into the figures.
 * @param sql a connection of its own, whose statements have a short deadline
 * @returns brings them up to date
 */
export function readDatabaseFigures(
  figures: Figures,
  sql: Pool,
  { cachedMs = CACHED_MS, patienceMs = PATIENCE_MS, staleMs = STALE_MS } = {},
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
      showOutbox(figures, outbox);
      showOpen(figures, open);
      showMails(figures, mails);
      figures.incidents.set(incidents);
      figures.databaseUp.set(1);
      readAt = performance.now();
    } catch (error) {
      // One that ends a statement since it took too long is there.
      const answers = error instanceof postgres.PostgresError && error.code === '57014';
      figures.databaseUp.set(answers ? 1 : 0);
      if (!answers) readAt = Number.NEGATIVE_INFINITY;
    }
  }

  return async () => {
    if (reading === undefined && performance.now() - startedAt >= cachedMs) {
      startedAt = performance.now();
      reading = read().finally(() => {
        reading = undefined;
      });
    }
    if (reading !== undefined) await atMost(patienceMs, reading);
    const age = performance.now() - readAt;
    if (age > staleMs) forget(figures);
    else figures.databaseReadAge.set(age / 1_000);
  };
}

async function atMost(ms: number, work: Promise<void>): Promise<void> {
  const timer = new AbortController();
  const late = sleep(ms, undefined, { signal: timer.signal, ref: false }).catch(() => {});
  await Promise.race([work, late]);
  timer.abort();
}

function showOutbox(figures: Figures, outbox: OutboxOverview): void {
  const { fresh, handedBack, recovered } = outbox;
  for (const [waiting, count] of Object.entries({ fresh, handedBack, recovered })) {
    figures.outbox.set({ waiting }, count);
  }
  figures.outboxOldest.set(outbox.oldestSeconds ?? 0);
  figures.outboxMoving.set(outbox.moving ? 1 : 0);
  figures.changes.set(outbox.changes);
  figures.changesOldest.set(outbox.oldestChangeSeconds ?? 0);
}

function showOpen(figures: Figures, { pending, retrying, held, holdingWebhooks }: OpenOverview): void {
  for (const [state, count] of Object.entries({ pending, retrying, held }))
    figures.open.set({ state }, count);
  figures.holding.set(holdingWebhooks);
}

function showMails(figures: Figures, { owed, oldestSeconds, refusedLately }: MailOverview): void {
  figures.mailsOwed.set(owed);
  figures.mailsOldest.set(Math.max(0, oldestSeconds ?? 0));
  figures.mailsRefused.set(refusedLately);
}

/** Unknown is not zero. */
function forget(figures: Figures): void {
  figures.outbox.reset();
  figures.open.reset();
  for (const gauge of [
    figures.databaseReadAge,
    figures.outboxOldest,
    figures.outboxMoving,
    figures.changes,
    figures.changesOldest,
    figures.holding,
    figures.incidents,
    figures.mailsOwed,
    figures.mailsOldest,
    figures.mailsRefused,
  ]) {
    gauge.remove();
  }
}
