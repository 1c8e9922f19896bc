/**
 * In order, per record: a backlog of records with several events each that drains without an order, in order, and with only the latest
 * counting; the same with records that fail; a single record; and the effect of an order on a calm delivery.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ordering } from '../../src/domain/webhook.ts';
import { type Backlog, createBacklog } from '../backlog.ts';
import { type Criterion, figure, ratio } from '../criteria.ts';
import { startInOneProcess } from '../one-process.ts';
import { firstDelivery, type Line, latenciesOf, openLine } from '../rounds.ts';
import type { Stack } from '../stack.ts';
import { percentile } from '../statistics.ts';
import { feel } from '../trial.ts';
import { untilNone } from '../until-none.ts';
import type { Bench, Section, Setting } from './section.ts';

const ORDERINGS = ['none', 'record', 'latest'] as const;
/** As many as four e-shops have together. */
const WEBHOOKS = 20;
const EVENTS_OF_EACH = 20;
const FAILING_PERCENT = 2;
const SINGLE_EVENTS = 100;
/** The easy pace beside records that fail. */
const STEADY_PER_SECOND = 30;
const CALM_PER_SECOND = 10;
const PATIENCE_MS = 600_000;

/** Its name in the table. */
const rushName = (ordering: Ordering) => `${ordering}: events of a backlog ended per second`;
const requestsName = (ordering: Ordering) => `  requests, ${ordering}`;
const outOfOrderName = (ordering: Ordering) => `  out of order, ${ordering}`;
const backlogP95Name = (failing: boolean) =>
  `record: p95 until the other 98 % ended${failing ? ` while ${FAILING_PERCENT} % of the records fail` : ''}, s`;
const steadyP95Name = (failing: boolean) =>
  `record: COMMIT to first byte at ${STEADY_PER_SECOND} per second, p95, ms${failing ? `, while ${FAILING_PERCENT} % of the records fail` : ''}`;
const singleName = `record: a single record, ${SINGLE_EVENTS} events, per second`;
const calmName = (ordering: Ordering, place: 'apart' | 'one process') =>
  `${ordering}: COMMIT to first byte in a calm, ${place === 'apart' ? 'API and worker apart' : place}, p50, ms`;

export const order: Section = {
  name: 'order',
  about:
    'events in the order of their records: in a rush, beside records that fail, of one record, in a calm',
  criteria: [
    ...(['apart', 'one process'] as const).map(
      (place): Criterion => ({
        title: `p50 in a calm with an order, less that without, ms (${place})`,
        bound: { most: 2 },
        value: (of) => of(calmName('record', place), 'all') - of(calmName('none', place), 'all'),
      }),
    ),
    ratio('a backlog in order: throughput over that without', rushName('record'), rushName('none'), {
      least: 0.8,
    }),
    figure('a single record: events per second', singleName, { least: 15 }),
    ratio(
      'p95 of other records beside those that fail, over that without',
      steadyP95Name(true),
      steadyP95Name(false),
      { most: 1.2 },
    ),
    ...(['record', 'latest'] as const).map((ordering) =>
      figure(`out of order, ${ordering}`, outOfOrderName(ordering), { most: 0 }),
    ),
  ],
  async run(bench: Bench) {
    const stack = await bench.stack();
    const whole = await startInOneProcess(stack, 'whole');
    const wholeLines = { none: await whole.openLine('none'), record: await whole.openLine('record') };
    for (let run = 0; run < bench.runs; run += 1) {
      await calm(bench, whole, wholeLines, 'all', 'one process');
      for (const setting of bench.settings) {
        await stack.startWorkers({ env: { WORKFLOWS: setting } });
        const lines = {
          none: await openLine(stack, await stack.startReceiver(), 'none'),
          record: await openLine(stack, await stack.startReceiver(), 'record'),
        };
        for (const line of Object.values(lines)) await firstDelivery(line);
        await calm(bench, stack, lines, setting, 'apart');
        await rushes(bench, stack, setting);
        await single(bench, stack, setting);
        for (const failing of [false, true]) await steady(bench, stack, setting, failing);
        await stack.stopWorkers();
      }
    }
  },
};

/** One after the other and back again, so that a machine that gets slower affects both. */
async function calm(
  bench: Bench,
  place: Pick<Stack, 'commitTimes'>,
  lines: Readonly<Record<'none' | 'record', Line>>,
  setting: Setting,
  where: 'apart' | 'one process',
): Promise<void> {
  const pace = {
    perSecond: CALM_PER_SECOND,
    seconds: bench.sizes.steadySeconds / 2,
    patienceMs: bench.patience(PATIENCE_MS),
  };
  const found: Record<keyof typeof lines, number[]> = { none: [], record: [] };
  for (const ordering of ['none', 'record'] as const)
    await feel(place, lines[ordering], { ...pace, seconds: Math.min(3, pace.seconds) });
  for (const ordering of ['none', 'record', 'record', 'none'] as const)
    found[ordering].push(...(await feel(place, lines[ordering], pace)).latencies);
  for (const ordering of ['none', 'record'] as const)
    bench.note(calmName(ordering, where), setting, percentile(found[ordering], 50));
}

async function rushes(bench: Bench, stack: Stack, setting: Setting): Promise<void> {
  const { records } = bench.sizes;
  const events = records * EVENTS_OF_EACH;
  // Warms compilers, caches and connections.
  await drain(bench, stack, {
    records: Math.ceil(records / 10),
    events: Math.ceil(events / 10),
    ordering: 'record',
  });
  for (const ordering of ORDERINGS) {
    bench.say(`${setting}, ${ordering}: ${events} events of ${records} records …`);
    const { ended, requests, outOfOrder } = await drain(bench, stack, { records, events, ordering });
    bench.note(rushName(ordering), setting, (ended.length / Math.max(...ended)) * 1_000);
    bench.note(requestsName(ordering), setting, requests);
    bench.note(outOfOrderName(ordering), setting, outOfOrder);
    if (ordering === 'record') bench.note(backlogP95Name(false), setting, percentile(ended, 95) / 1_000);
  }
  const failing = Math.ceil((records * FAILING_PERCENT) / 100);
  const { ended } = await drain(bench, stack, { records, events, ordering: 'record', failing });
  bench.note(backlogP95Name(true), setting, percentile(ended, 95) / 1_000);
}

async function single(bench: Bench, stack: Stack, setting: Setting): Promise<void> {
  const order = { records: 1, events: SINGLE_EVENTS, ordering: 'record' } as const;
  const { ended, outOfOrder } = await drain(bench, stack, order);
  bench.note(singleName, setting, (ended.length / Math.max(...ended)) * 1_000);
  bench.note('  out of order, of the single record', setting, outOfOrder);
}

interface Drain {
  readonly records: number;
  readonly events: number;
  readonly ordering: Ordering;
  readonly failing?: number;
}

const openBacklog = (stack: Stack, { records, ordering, failing = 0 }: Omit<Drain, 'events'>) =>
  createBacklog(stack.sql, stack.secretKey, stack.receiver.urlOf, {
    webhooks: WEBHOOKS,
    slow: 0,
    failing: 0,
    ordering,
    records,
    failingRecords: failing,
  });

/**
 * Lets a backlog drain.
 * @returns when each delivery that does not fail ended, in milliseconds after the release; the number of requests, and how many of them
 * came after one with a later event of their record
 */
async function drain(bench: Bench, stack: Stack, drained: Drain) {
  const { sql, receiver } = stack;
  const backlog = await openBacklog(stack, drained);
  await backlog.write(drained.events);
  await sql`vacuum analyze deliveries`;
  await receiver.arrivalsWithin(NOTHING);
  await backlog.release();
  const start = performance.timeOrigin + performance.now();
  backlog.wake();
  await untilEnded(bench, stack, backlog);
  const { first } = await receiver.arrivalsWithin(NOTHING);
  const rows = await sql<{ id: string; entityId: string; sequence: number; at: number }[]>`
    select id, entity_id, sequence::int as sequence, extract(epoch from finished_at)::float8 * 1000 as at
    from deliveries where webhook_id = any(${[...backlog.webhookIds]}) and entity_id like 'bench-%'`;
  const byId = new Map(rows.map((row) => [row.id, row]));
  const last = new Map<string, number>();
  let outOfOrder = 0;
  for (const [id] of first) {
    const row = byId.get(id);
    if (row === undefined) continue;
    const before = last.get(row.entityId) ?? 0;
    if (row.sequence < before) outOfOrder += 1;
    last.set(row.entityId, Math.max(before, row.sequence));
  }
  await backlog.retire(bench.patience(PATIENCE_MS));
  return { ended: rows.map(({ at }) => at - start), requests: first.length, outOfOrder };
}

/** Takes the present arrivals, which are then forgotten. */
const NOTHING = { deliveries: 0, seconds: 0, patienceMs: 0 } as const;

function untilEnded(bench: Bench, { sql }: Stack, { webhookIds }: Backlog): Promise<void> {
  return untilNone('events of records that do not fail', bench.patience(PATIENCE_MS), async () => {
    const [row] = await sql<{ left: number }[]>`
      select exists (
        select from deliveries where webhook_id = any(${[...webhookIds]}) and state in ('pending', 'retrying') and entity_id like 'bench-%'
      )::int as left`;
    return row?.left;
  });
}

/** Events at an easy pace: measures the latency for records that do not fail. */
async function steady(bench: Bench, stack: Stack, setting: Setting, failing: boolean): Promise<void> {
  // Enough records that none is busy.
  const records = Math.max(50, Math.ceil(bench.sizes.records / 10));
  const backlog = await openBacklog(stack, {
    records,
    ordering: 'record',
    failing: failing ? Math.ceil((records * FAILING_PERCENT) / 100) : 0,
  });
  const { receiver, sql } = stack;
  await receiver.arrivalsWithin(NOTHING);
  const start = performance.now();
  const events = STEADY_PER_SECOND * Math.ceil(bench.sizes.trialSeconds / 2);
  for (let index = 0; index < events; index += 1) {
    await sleep(Math.max(0, start + (index * 1_000) / STEADY_PER_SECOND - performance.now()));
    await backlog.happen();
  }
  await untilEnded(bench, stack, backlog);
  const { first } = await receiver.arrivalsWithin(NOTHING);
  const healthy = await sql<{ id: string }[]>`
    select id from deliveries where webhook_id = any(${[...backlog.webhookIds]}) and entity_id like 'bench-%'`;
  const ids = new Set(healthy.map(({ id }) => id));
  const latencies = await latenciesOf(
    stack,
    first.filter(([id]) => ids.has(id)),
  );
  bench.note(steadyP95Name(failing), setting, percentile(latencies, 95));
  await backlog.retire(bench.patience(PATIENCE_MS));
}
