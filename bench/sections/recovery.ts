/**
 * A recovery beside fresh events: its effect on them, its speed, and the accuracy of its estimated end.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from '../../src/db/pool.ts';
import { benchRecord } from '../backlog.ts';
import { figure, ratio } from '../criteria.ts';
import { atPace } from '../pace.ts';
import { firstDelivery, flatOutRound, latenciesOf, openLine } from '../rounds.ts';
import type { Shop, ShownRecovery } from '../shop.ts';
import type { Stack } from '../stack.ts';
import { percentile } from '../statistics.ts';
import { feel } from '../trial.ts';
import type { Bench, Section, Setting } from './section.ts';

/** Fresh events of the same e-shop, to the same webhook. */
const PER_SECOND = 20;
/** When the estimated end is read, in per cent of the events recovered. */
const SHARES = [25, 50, 75] as const;
/** Orders of the first rush: a process is slower at anything that it does for the first time. */
const WARM_UP = { orders: 1_000, clients: 16 } as const;
const ASK_EVERY_MS = 250;
const SAY_EVERY_MS = 5_000;
const PATIENCE_MS = 120_000;
const RECOVERY_MS = 3_600_000;
const HOUR_MS = 3_600_000;

/** Its name in the table. */
const latencyName = (when: 'without' | 'beside it', percent: number) =>
  `fresh deliveries ${when}, p${percent}, ms`;
const etaName = (share: number) => `estimated end at ${share} %, off by a share of what was left`;
const undeliveredName = 'fresh deliveries undelivered';
const repeatsName = 'requests of an attempt made before';

export const recovery: Section = {
  name: 'recovery',
  about: 'what failed is recovered while 20 orders per second go on to the same webhook',
  criteria: [
    ratio(
      'fresh deliveries beside it, p95 over that without',
      latencyName('beside it', 95),
      latencyName('without', 95),
      { most: 2 },
    ),
    ...SHARES.map((share) =>
      figure(`how far its estimated end is off, asked at ${share} %`, etaName(share), { most: 0.2 }),
    ),
    figure('fresh deliveries that did not arrive', undeliveredName, { most: 0 }),
    figure('requests of an attempt made before', repeatsName, { most: 0 }),
  ],
  async run(bench: Bench) {
    for (let run = 0; run < bench.runs; run += 1)
      for (const setting of bench.settings) await trial(bench, setting);
  },
};

async function trial(bench: Bench, setting: Setting): Promise<void> {
  const stack = await bench.stack();
  await stack.startWorkers({ env: { WORKFLOWS: setting } });
  const line = await openLine(stack);
  const { shop, receiver } = line;
  await firstDelivery(line);
  await flatOutRound(stack, line, { ...WARM_UP, patienceMs: bench.patience(PATIENCE_MS) });
  const { trialSeconds, recovered } = bench.sizes;
  const webhookId = await webhookOf(stack.sql, shop);
  await loseMany(stack.sql, webhookId, recovered);
  const patienceMs = bench.patience(PATIENCE_MS);
  const alone = await feel(stack, line, { perSecond: PER_SECOND, seconds: trialSeconds, patienceMs });
  for (const percent of [50, 95])
    bench.note(latencyName('without', percent), setting, percentile(alone.latencies, percent));

  const began = performance.now();
  const { recoveryId, count } = await shop.recover(webhookId, new Date(Date.now() - 2 * HOUR_MS));
  if (count !== recovered) throw new Error(`${count} of ${recovered} lost events were found.`);
  const over = new AbortController();
  const fresh = atPace(
    PER_SECOND,
    () => !over.signal.aborted,
    () => shop.createOrder(),
  );
  // Awaited below; until then a failure must not count as unhandled.
  fresh.catch(() => {});
  const { estimates, end } = await watched(bench, shop, { webhookId, recoveryId }).finally(() =>
    over.abort(),
  );
  const { length: sent } = await fresh;
  const { first, repeats } = await receiver.arrivalsWithin({
    deliveries: recovered + sent,
    seconds: 0,
    patienceMs: bench.patience(PATIENCE_MS),
  });
  const ofOrders = await freshOf(stack, first);
  const latencies = await latenciesOf(stack, ofOrders);
  for (const percent of [50, 95])
    bench.note(latencyName('beside it', percent), setting, percentile(latencies, percent));
  bench.note('recovered', setting, recovered);
  bench.note('recovered per second', setting, recovered / ((performance.now() - began) / 1000));
  for (const share of SHARES) bench.note(etaName(share), setting, offBy(estimates.get(share), end));
  bench.note('fresh deliveries', setting, sent);
  bench.note(undeliveredName, setting, sent - ofOrders.length);
  bench.note(
    'recovered deliveries that did not arrive',
    setting,
    recovered - (first.length - ofOrders.length),
  );
  bench.note(repeatsName, setting, repeats);
  await stack.stop();
}

async function webhookOf(sql: Pool, { eshopId }: Shop): Promise<number> {
  const [row] = await sql<{ id: number }[]>`select id from webhooks where eshop_id = ${eshopId}`;
  if (row === undefined) throw new Error('There is no webhook.');
  return row.id;
}

/** Writes deliveries that failed in the minutes up to an hour ago. */
async function loseMany(sql: Pool, webhookId: number, deliveries: number): Promise<void> {
  const snapshot = JSON.stringify(benchRecord('lost'));
  const id = (last: string) => sql`
    (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7000' || '8' || lpad(to_hex(n), 9, '0') || ${last}::text)::uuid`;
  await sql`
    with lost as materialized (
      select n, at, ${id('000001')} as event_id, ${id('000002')} as id
      from generate_series(1, ${deliveries}::int) n
      cross join lateral (select now() - interval '1 hour' - make_interval(secs => 0.05 * (${deliveries}::int - n)) as at) t),
    happened as (
      insert into events (id, eshop_id, type, entity_id, snapshot, created_at)
      select event_id, w.eshop_id, 'CREATE_ORDER', 'lost-' || n, ${snapshot}, at
      from lost, webhooks w where w.id = ${webhookId} order by n)
    insert into deliveries (id, event_id, eshop_id, webhook_id, event_type, entity_id, state, attempts_made, created_at,
      dispatched_at, window_started_at, last_attempt_at, last_status, last_error, finished_at)
    select lost.id, event_id, w.eshop_id, w.id, 'CREATE_ORDER', 'lost-' || n, 'failed', 21, at, at, at, at, 503, 'HTTP 503', at
    from lost, webhooks w where w.id = ${webhookId} order by n`;
  for (const table of ['events', 'deliveries']) await sql`vacuum analyze ${sql(table)}`;
}

/** An answer about the end, in milliseconds since 1970. */
interface Estimate {
  readonly askedAt: number;
  readonly end: number | null;
}

/** Reads the recovery until it has ended. @throws Error if it does not end in time */
async function watched(
  bench: Bench,
  shop: Shop,
  { webhookId, recoveryId }: { readonly webhookId: number; readonly recoveryId: string },
): Promise<{ readonly estimates: ReadonlyMap<number, Estimate>; readonly end: number }> {
  const estimates = new Map<number, Estimate>();
  const patienceMs = bench.patience(RECOVERY_MS);
  let said = 0;
  for (const until = performance.now() + patienceMs; performance.now() < until; await sleep(ASK_EVERY_MS)) {
    const shown: ShownRecovery = await shop.readRecovery(webhookId, recoveryId);
    const { count, done, failed, state, estimatedEndAt, finishedAt } = shown;
    if (Date.now() > said + SAY_EVERY_MS) {
      said = Date.now();
      const left = estimatedEndAt === null ? 'unknown' : `${Math.round((estimatedEndAt - said) / 1_000)} s`;
      bench.say(`${done} of ${count} recovered; expected to take ${left} more`);
    }
    for (const share of SHARES) {
      if (estimates.has(share) || done + failed < (count * share) / 100) continue;
      estimates.set(share, { askedAt: Date.now(), end: estimatedEndAt });
    }
    if (finishedAt !== null) {
      if (state !== 'completed' || failed > 0) throw new Error(`It is ${state}; ${failed} failed.`);
      return { estimates, end: finishedAt };
    }
  }
  throw new Error(`The recovery has not ended after ${Math.round(patienceMs / 1000)} s.`);
}

/** The error of the estimate, as a share of the time that was really left. */
function offBy(estimate: Estimate | undefined, end: number): number {
  if (estimate === undefined || estimate.end === null) return Number.NaN;
  return Math.abs(estimate.end - end) / (end - estimate.askedAt);
}

/** The arrivals that do not belong to the recovery. */
async function freshOf({ sql }: Pick<Stack, 'sql'>, first: readonly (readonly [id: string, at: number])[]) {
  const rows = await sql<{ id: string }[]>`
    select id from deliveries where id = any(${first.map(([id]) => id)}::uuid[]) and recovery_id is null`;
  const ids = new Set(rows.map(({ id }) => id));
  return first.filter(([id]) => ids.has(id));
}
