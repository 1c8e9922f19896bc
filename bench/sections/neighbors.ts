/** Neighbors: the effect of one e-shop on another, with and without it in the same run. */

import type { Setting } from '../../test/support/harness/settings.ts';
import { type Criterion, figure, ratio } from '../criteria.ts';
import { firstDelivery, flatOutRound, type Line, latencyOf, openLine, withCommits } from '../rounds.ts';
import { type Place, type Scenario, scenarios } from '../scenarios.ts';
import type { Stack } from '../stack.ts';
import { percentile } from '../statistics.ts';
import { countTaskTimeouts } from '../task-timeouts.ts';
import { latenessAmongNeighbors, type Pace, probeLatency, probeReads } from '../trial.ts';
import type { Bench, Section } from './section.ts';

const PER_SECOND = 10;
/** Orders of the first rush. */
const WARM_UP = 2_000;
const WARM_UP_CLIENTS = 16;
/** How long to wait for deliveries under way at the end of a trial, in milliseconds. */
const PATIENCE_MS = 120_000;
const PREPARE_MS = 600_000;

/** The names of the effects in the table and the criteria. */
const besideNames = {
  alone: ({ name }: Scenario) => `p95 without ${name}, ms`,
  beside: ({ name }: Scenario) => `p95 beside ${name}, ms`,
  readsAlone: ({ name }: Scenario) => `  reads of the API without ${name}, p95, ms`,
  readsBeside: ({ name }: Scenario) => `  reads of the API beside ${name}, p95, ms`,
  undelivered: ({ name }: Scenario) => `undelivered beside ${name}`,
} as const;
const longestDelayName = '  the longest delay beyond those around it, ms';
const lateName = '  later than those around it by more than 2 s';
const timeoutsName = '  workflow task time-outs';
const LATE_MS = 2_000;
const lastRetryName = ({ name }: Scenario, number: number) =>
  `  ${name}: the last attempt ${number} begins after, s`;

/** The latency beside a scenario may be three times that without it, and is always acceptable up to 300 ms. */
const NEVER_TOO_LONG_MS = 300;
const ofNeighbors = (scenario: Scenario): readonly Criterion[] => [
  {
    title: `p95 beside ${scenario.name}, over that without (or 300 ms)`,
    bound: { most: 3 },
    value: (of) =>
      of(besideNames.beside(scenario), 'all') /
      Math.max(of(besideNames.alone(scenario), 'all'), NEVER_TOO_LONG_MS / 3),
  },
  figure(`undelivered beside ${scenario.name}`, besideNames.undelivered(scenario), { most: 0 }),
];

export const neighbors: Section = {
  name: 'neighbors',
  about: 'one e-shop’s latency beside another’s load, and without it, in fourteen scenarios',
  criteria: [
    ...scenarios.flatMap(ofNeighbors),
    ...scenarios
      .filter(({ measures }) => measures === 'reads of the API')
      .map((scenario) =>
        ratio(
          `reads, p95 beside ${scenario.name}, over that without`,
          besideNames.readsBeside(scenario),
          besideNames.readsAlone(scenario),
          { most: 3 },
        ),
      ),
    ...scenarios
      .filter(({ measures }) => measures === 'its retries')
      .map((scenario) =>
        figure(`${scenario.name}: the last attempt 2 begins after, s`, lastRetryName(scenario, 2), {
          most: 10,
        }),
      ),
    figure('clients: later than those around it by more than 2 s', lateName, { most: 0 }),
    figure('clients: workflow task time-outs', timeoutsName, { most: 0 }),
  ],
  async run(bench: Bench) {
    const asked = scenarios.filter(({ name }) => name.includes(bench.scenario));
    if (asked.length === 0) throw new Error(`No scenario has "${bench.scenario}" in its name.`);
    for (let run = 0; run < bench.runs; run += 1)
      for (const setting of bench.settings)
        for (const scenario of asked) await trial(bench, setting, scenario);
  },
};

/** The noisy e-shop, and the healthy one. */
interface Trial {
  readonly place: Place;
  readonly line: Line;
  readonly pace: Pace;
}

/** A warm worker and the two e-shops of a trial. @param seconds of orders @param env more variables of the workers */
async function openTrial(
  bench: Bench,
  stack: Stack,
  setting: Setting,
  seconds: number,
  env: Readonly<Record<string, string>> = {},
): Promise<Trial> {
  await stack.startWorker({ WORKFLOWS: setting, ...env });
  const line = await openLine(stack);
  await firstDelivery(line);
  // A first rush, of a third e-shop: a process is slower at anything that it does for the first time.
  await flatOutRound(stack, await openLine(stack), {
    orders: WARM_UP,
    clients: WARM_UP_CLIENTS,
    patienceMs: bench.patience(PATIENCE_MS),
  });
  const { sizes } = bench;
  const place: Place = {
    stack,
    shop: await stack.openShop(),
    receiver: await stack.startReceiver(),
    sizes,
    patienceMs: bench.patience(PREPARE_MS),
  };
  const pace = { perSecond: PER_SECOND, seconds, patienceMs: bench.patience(PATIENCE_MS) };
  await probeLatency(stack, line, { ...pace, seconds: Math.min(5, pace.seconds) });
  return { place, line, pace };
}

/** The effect on the healthy e-shop while the other plays the scenario. */
async function probeBeside({ place, line, pace }: Trial, scenario: Scenario) {
  const webhooks = await scenario.prepare(place);
  const over = new AbortController();
  const making = scenario.make(place, webhooks, over.signal);
  // Awaited below; until then a failure must not count as unhandled.
  making.catch(() => {});
  const timer = setTimeout(() => over.abort(), pace.seconds * 1000);
  const [beside, readsBeside] = await Promise.all([
    probeLatency(place.stack, line, pace),
    probeReads(line, pace),
  ]).finally(() => clearTimeout(timer));
  over.abort();
  await making;
  return { webhooks, beside, readsBeside };
}

async function trial(bench: Bench, setting: Setting, scenario: Scenario): Promise<void> {
  const stack = await bench.stack();
  const opened = await openTrial(bench, stack, setting, bench.sizes.trialSeconds, scenario.env);
  const { place, line, pace } = opened;
  const [alone, readsAlone] = await Promise.all([probeLatency(stack, line, pace), probeReads(line, pace)]);
  bench.note(besideNames.alone(scenario), setting, percentile(alone.latencies, 95));

  bench.say(`${setting}: ${scenario.name} …`);
  const { webhooks, beside, readsBeside } = await probeBeside(opened, scenario);
  bench.note(besideNames.beside(scenario), setting, percentile(beside.latencies, 95));
  bench.note(
    `  answers of the API without ${scenario.name}, p95, ms`,
    setting,
    percentile(alone.answers, 95),
  );
  bench.note(
    `  answers of the API beside ${scenario.name}, p95, ms`,
    setting,
    percentile(beside.answers, 95),
  );
  bench.note(besideNames.readsAlone(scenario), setting, percentile(readsAlone, 95));
  bench.note(besideNames.readsBeside(scenario), setting, percentile(readsBeside, 95));
  bench.note(besideNames.undelivered(scenario), setting, beside.undelivered);
  if (scenario.measures === 'its own deliveries') await ownNeighbors(bench, setting, place);
  if (scenario.measures === 'its retries') {
    for (const number of [2, 3]) {
      const seconds = await lastRetrySeconds(stack, webhooks, number);
      if (seconds !== null) bench.note(lastRetryName(scenario, number), setting, seconds);
    }
  }
  await stack.stop();
}

/** How late the latest attempt with this number began at these webhooks, in seconds; null if none was due. */
async function lastRetrySeconds(
  { sql }: Stack,
  webhooks: readonly number[],
  number: number,
): Promise<number | null> {
  const [row] = await sql<{ seconds: number | null }[]>`
    select extract(epoch from max(coalesce(this.started_at, now()) - before.next_attempt_at))::float8 as seconds
    from deliveries d join attempts before on before.delivery_id = d.id and before.number = ${number - 1}
    left join attempts this on this.delivery_id = d.id and this.number = ${number}
    where d.webhook_id = any(${[...webhooks]}::int[]) and before.outcome = 'failure' and before.next_attempt_at <= now()`;
  return row?.seconds ?? null;
}

/** The deliveries of the trial itself: none may be much later than those committed around it. */
async function ownNeighbors(bench: Bench, setting: Setting, place: Place): Promise<void> {
  const { stack, shop, receiver } = place;
  const [row] = await stack.sql<{ count: number }[]>`
    select count(*)::int as count from deliveries where eshop_id = ${shop.eshopId}`;
  const deliveries = row?.count ?? 0;
  const patienceMs = bench.patience(PREPARE_MS);
  const first = await receiver.arrivalsWithin({ deliveries, patienceMs });
  const late = latenessAmongNeighbors((await withCommits(stack, first)).map(latencyOf));
  bench.note('  deliveries of the clients', setting, deliveries);
  bench.note('  of them not delivered in ten minutes', setting, deliveries - first.length);
  bench.note(longestDelayName, setting, Math.max(0, ...late));
  bench.note(lateName, setting, late.filter((ms) => ms > LATE_MS).length);
  bench.note(timeoutsName, setting, await countTaskTimeouts(stack.temporalAddress));
}
