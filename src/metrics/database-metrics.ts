/**
 * Metrics from the database, read on request, but seldom enough to cost nothing. An unavailable database delays no
 * response.
 */
import postgres from 'postgres';
import type { Gauge } from 'prom-client';
import type { Pool } from '../db/connection/pool.ts';
import { readCursorBlocker } from '../db/maintenance/low-water-mark.ts';
import { readVacuumBlockers, type VacuumBlockerBounds } from '../db/maintenance/vacuum-blockers.ts';
import { readNotices } from '../db/notices/overview.ts';
import { readOverdue } from '../db/overdue.ts';
import { countWindowsLost, readDatabase, readIncidents, readOpen, readOutbox } from '../db/overview.ts';
import { readPartitions } from '../db/retention/partitions.ts';
import { mailFolder } from '../db/settings.ts';
import { atMost } from '../lib/at-most.ts';
import type { Metrics } from './metrics.ts';

/** Only tests set these. */
interface ReadOptions {
  /** How long a reading is used, in milliseconds. */
  readonly cachedMs?: number;
  /** How long a request waits for a new reading before it gets the previous one, in milliseconds. */
  readonly readTimeoutMs?: number;
  /** The age beyond which a reading is no longer shown, in milliseconds. */
  readonly staleMs?: number;
  readonly deadRows?: VacuumBlockerBounds;
}

/**
 * Reads the database into the metrics. A late statement does not affect the results of the others.
 * @param sql its own connection, whose statements have a short deadline
 * @param isUp whether the database can be used, as for readiness
 * @returns a function that updates them
 */
export function readDatabaseMetrics(
  metrics: Metrics,
  sql: Pool,
  isUp: () => Promise<boolean>,
  { cachedMs = 5_000, readTimeoutMs = 250, staleMs = 60_000, deadRows }: ReadOptions = {},
): () => Promise<void> {
  const readings = readingsOf(metrics, sql, deadRows);
  let looking: Promise<void> | undefined;
  let startedAt = Number.NEGATIVE_INFINITY;
  let isAway = true;

  async function refresh(): Promise<void> {
    for (const reading of readings) {
      try {
        await reading.read();
        reading.since = performance.now();
      } catch (error) {
        // A late statement shows in the age of its reading; without a connection the others would be late, too.
        if (!(error instanceof postgres.PostgresError)) return;
      }
    }
  }

  /** Reads if the database is available, in the sense of readiness; a late statement does not count. */
  async function look(): Promise<void> {
    const wasAway = isAway;
    isAway = !(await isUp());
    metrics.databaseUp.set(isAway ? 0 : 1);
    for (const reading of readings) {
      if (isAway) reading.forget();
      else if (wasAway) reading.since = performance.now();
    }
    if (!isAway) await refresh();
  }

  return async () => {
    if (looking === undefined && performance.now() - startedAt >= cachedMs) {
      startedAt = performance.now();
      looking = look().finally(() => {
        looking = undefined;
      });
    }
    if (looking !== undefined) await atMost(readTimeoutMs, looking);
    const now = performance.now();
    for (const reading of readings) if (now - reading.since > staleMs) reading.forget();
    const oldest = Math.min(...readings.map(({ since }) => since));
    if (isAway) metrics.databaseReadAge.remove();
    else metrics.databaseReadAge.set((now - oldest) / 1_000);
  };
}

/** The readings, most urgent first: one after the other, on one connection. */
function readingsOf(metrics: Metrics, sql: Pool, deadRows?: VacuumBlockerBounds) {
  /** When each stuck delivery was first seen, in milliseconds, on a clock that does not jump. */
  let stuckSince = new Map<string, number>();
  return [
    reading(
      () => readOverdue(sql),
      [
        [metrics.overdue, ({ attemptSeconds }) => attemptSeconds],
        [
          metrics.blockedStuck,
          ({ stuck }) => {
            const now = performance.now();
            stuckSince = new Map(stuck.map((id) => [id, stuckSince.get(id) ?? now]));
            return Math.max(0, ...[...stuckSince.values()].map((since) => now - since)) / 1_000;
          },
        ],
      ],
      [metrics.queueDue, ({ queue }) => queue],
    ),
    reading(() => countWindowsLost(sql), [[metrics.windowsLost, (count) => count]]),
    reading(
      () => readOutbox(sql),
      [
        [metrics.withoutWorkflow, ({ withoutWorkflow }) => withoutWorkflow],
        [metrics.queueOldest, ({ oldestSeconds }) => oldestSeconds ?? 0],
        [metrics.blocked, ({ blocked }) => blocked],
        [metrics.blockedRecords, ({ blockedRecords }) => blockedRecords],
        [metrics.blockedOldest, ({ blockedSeconds }) => blockedSeconds ?? 0],
        [metrics.changes, ({ changes }) => changes],
        [metrics.changesOldest, ({ oldestChangeSeconds }) => oldestChangeSeconds ?? 0],
      ],
      [
        metrics.queued,
        ({ fresh, retry, bulk, recovered, paused, undelivered, delivered }) => {
          return { fresh, retry, bulk, recovered, paused, undelivered, delivered };
        },
      ],
    ),
    reading(
      () => readOpen(sql),
      [[metrics.holding, ({ holdingWebhooks }) => holdingWebhooks]],
      [metrics.open, ({ pending, retrying, held }) => ({ pending, retrying, held })],
    ),
    reading(
      () => readIncidents(sql),
      [[metrics.incidents, ({ webhooks }) => webhooks]],
      [metrics.eshops, ({ failing, deactivated }) => ({ failing, deactivated })],
    ),
    reading(
      () => readCursorBlocker(sql),
      [],
      [metrics.cursorsHeldUp, (by) => ({ [by?.application ?? '']: by?.seconds ?? 0 })],
    ),
    reading(
      () => readNotices(sql),
      [
        [metrics.mailsPending, ({ mails }) => mails.pending],
        [metrics.mailsOldest, ({ mails }) => Math.max(0, mails.oldestSeconds ?? 0)],
        [metrics.mailsRefused, ({ mails }) => mails.givenUp],
      ],
    ),
    reading(() => mailFolder(sql), [[metrics.mailsToFiles, (folder) => (folder === null ? 0 : 1)]]),
    reading(() => readPartitions(sql), [[metrics.partitionsAhead, ({ aheadSeconds }) => aheadSeconds]]),
    reading(() => readVacuumBlockers(sql, deadRows), [[metrics.vacuumBlockers, ({ length }) => length]]),
    reading(() => readDatabase(sql), [[metrics.databaseBytes, ({ bytes }) => bytes]]),
  ];
}

type Single<Found> = readonly [gauge: Gauge, value: (found: Found) => number];
type Labeled<Found, Label extends string> = readonly [
  gauge: Gauge<Label>,
  values: (found: Found) => Readonly<Record<string, number>>,
];

/**
 * One statement, and the gauges that show its result.
 * @param labeled a gauge with one label: its values by label; a series that is gone is no longer shown
 */
function reading<Found, Label extends string>(
  find: () => Promise<Found>,
  single: readonly Single<Found>[],
  labeled?: Labeled<Found, Label>,
) {
  return {
    /** When it was last read, in milliseconds, on a clock that does not jump; at first, the time of the start. */
    since: performance.now(),
    /** Reads, and shows. @throws the error of the database */
    async read(): Promise<void> {
      const result = await find();
      for (const [gauge, value] of single) gauge.set(value(result));
      if (labeled === undefined) return;
      const [gauge, values] = labeled;
      gauge.reset();
      for (const [name, count] of Object.entries(values(result))) gauge.labels(name).set(count);
    },
    /** An unknown value is not zero. */
    forget(): void {
      for (const [gauge] of single) gauge.remove();
      labeled?.[0].reset();
    },
  };
}
