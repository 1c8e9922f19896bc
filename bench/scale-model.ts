/**
 * Computes from measurements (docs/measurements.md) how many cells a load beyond one machine needs, and of what size.
 * Prints the tables of docs/scale.md. Starts nothing.
 *
 *     node --import ./bin/sources.js bench/scale-model.ts --events 10000
 */
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { positiveNumber } from './options.ts';
import { table } from './statistics.ts';

/** The load, and the resources of a cell. */
export interface Load {
  /** Events per second, on average over a day. */
  readonly events: number;
  readonly deliveriesPerEvent: number;
  /** The ratio of the busiest hour to the average. */
  readonly peak: number;
  /** The share of deliveries whose first attempt fails, and the number of retries of each. */
  readonly failing: number;
  readonly retries: number;
  readonly retentionDays: number;
  /** The cores of a cell's Postgres, at most half of which are used in the busiest hour. */
  readonly postgresCores: number;
  /** The size of the deliveries that a cell's Postgres keeps. */
  readonly postgresTib: number;
}

/** 1,000 installations of the size that the bench calls calm, 10 events per second each. */
export const thousandfold: Load = {
  events: 10_000,
  deliveriesPerEvent: 1,
  peak: 3,
  failing: 0.02,
  retries: 4,
  retentionDays: 30,
  postgresCores: 16,
  postgresTib: 4,
};

/** Processor milliseconds by part: docs/measurements.md. */
export const MEASURED = {
  /** An order over the API: 1.5 ms with its client, split 2 to 1: two cores accepted and delivered 946 a second. */
  accept: { api: 1, postgres: 0.5, temporal: 0, worker: 0 },
  /** An attempt from the queue. */
  attempt: { api: 0, postgres: 0.2, temporal: 0.09, worker: 0.28 },
  /** A delivery with its workflow (WORKFLOWS=undelivered: if not accepted at once). A retry is assumed equal. */
  workflow: { api: 0, postgres: 2.5, temporal: 24, worker: 11.9 },
  /** Bytes stored per delivery, including its event, attempt and indexes, and Temporal's history while it is kept. */
  bytes: 3_200,
} as const;

/** Assumptions, not measured here, each with its source. */
export const ASSUMED = {
  /** The use of all processors in the busiest hour. */
  busy: 0.5,
  /** Processes of Waybill use up to one core each. */
  coresPerProcess: 1,
  /** The most connections of a process (docs/handbook/configure.md), and of Temporal's four services. */
  connectionsPerProcess: 30,
  connectionsOfTemporal: 4 * 60,
  /** Writes of a workflow with one attempt, and of a shard per second: a tenth of the 200 that fit at 5 ms each. */
  writesPerWorkflow: 8,
  writesPerShard: 20,
  /** The price, in any currency, of a core for an hour and of a GiB for a month. */
  coreHour: 0.04,
  gibMonth: 0.1,
} as const;

const PARTS = ['api', 'worker', 'temporal', 'postgres'] as const;
const SECONDS_OF_A_DAY = 86_400;
const GIB = 2 ** 30;
const HOURS_OF_A_MONTH = 730;

/** The resources for a {@link Load}. */
export interface Scale {
  readonly deliveriesPerSecond: number;
  /** Processor milliseconds per delivery, including its share of accepting and of retries. */
  readonly cpu: Readonly<Record<(typeof PARTS)[number], number>>;
  readonly storedTib: number;
  /** The number of cells required by the processors of Postgres, and by its storage. */
  readonly cellsByCpu: number;
  readonly cellsByStorage: number;
  readonly cells: number;
  /** One cell: deliveries per second in the busiest hour, cores of each part, and so on. */
  readonly cell: {
    readonly deliveriesAtPeak: number;
    /** The most that its Postgres can bear, regardless of e-shops. */
    readonly maxDeliveries: number;
    readonly cores: Readonly<Record<(typeof PARTS)[number], number>>;
    readonly processes: number;
    readonly connections: number;
    readonly storedTib: number;
    readonly rowsPerWeek: number;
    readonly temporalWrites: number;
    readonly shards: number;
  };
  /** Per million deliveries. */
  readonly cost: { readonly coreHours: number; readonly gibMonths: number; readonly money: number };
}

/** The number of shards is a power of two and cannot be changed later: twice the need. */
const shardsFor = (writes: number) => 2 ** Math.ceil(Math.log2((2 * writes) / ASSUMED.writesPerShard));

/** @returns the resources for the load; pure */
export function scaleOf(load: Load): Scale {
  const { events, deliveriesPerEvent, peak, failing, retries, retentionDays } = load;
  const deliveriesPerSecond = events * deliveriesPerEvent;
  const retriesOfEach = failing * retries;
  const { accept, attempt, workflow } = MEASURED;
  const cpuOf = (part: (typeof PARTS)[number]) =>
    accept[part] / deliveriesPerEvent + attempt[part] + retriesOfEach * workflow[part];
  const cpu = Object.fromEntries(PARTS.map((part) => [part, cpuOf(part)])) as Scale['cpu'];
  // A partition is dropped once all of it is older: at most a week later.
  const keptDays = retentionDays + 7;
  const storedTib = (deliveriesPerSecond * SECONDS_OF_A_DAY * keptDays * MEASURED.bytes) / GIB / 1024;
  const coresAtPeak = (part: (typeof PARTS)[number]) =>
    (deliveriesPerSecond * peak * cpu[part]) / 1_000 / ASSUMED.busy;
  const cellsByCpu = Math.ceil(coresAtPeak('postgres') / load.postgresCores);
  const cellsByStorage = Math.ceil(storedTib / load.postgresTib);
  const cells = Math.max(1, cellsByCpu, cellsByStorage);
  const cores = Object.fromEntries(
    PARTS.map((part) => [part, Math.ceil(coresAtPeak(part) / cells)]),
  ) as Scale['cell']['cores'];
  const processes = 2 * Math.ceil(Math.max(1, (cores.api + cores.worker) / 2 / ASSUMED.coresPerProcess));
  const deliveriesAtPeak = (deliveriesPerSecond * peak) / cells;
  const temporalWrites = ASSUMED.writesPerWorkflow * deliveriesAtPeak * retriesOfEach;
  const coreHours = (PARTS.reduce((sum, part) => sum + cpu[part], 0) * 1_000_000) / 3_600_000;
  const gibMonths = ((MEASURED.bytes * 1_000_000) / GIB) * ((keptDays * 24) / HOURS_OF_A_MONTH);
  return {
    deliveriesPerSecond,
    cpu,
    storedTib,
    cellsByCpu,
    cellsByStorage,
    cells,
    cell: {
      deliveriesAtPeak,
      maxDeliveries: (load.postgresCores * ASSUMED.busy * 1_000) / cpu.postgres,
      cores,
      processes,
      connections: processes * ASSUMED.connectionsPerProcess,
      storedTib: storedTib / cells,
      rowsPerWeek: (deliveriesPerSecond * SECONDS_OF_A_DAY * 7) / cells,
      temporalWrites,
      shards: shardsFor(temporalWrites),
    },
    // Processors cost the same whether busy or not.
    cost: {
      coreHours,
      gibMonths,
      money: (coreHours * peak * ASSUMED.coreHour) / ASSUMED.busy + gibMonths * ASSUMED.gibMonth,
    },
  };
}

const rounded = (value: number) =>
  value >= 100
    ? Math.round(value).toLocaleString('en')
    : value >= 10
      ? value.toFixed(0)
      : value.toFixed(2).replace(/\.?0+$/, '');

/** The tables of docs/scale.md. */
export function scaleTables(load: Load): string {
  const scale = scaleOf(load);
  const { cell, cpu, cost } = scale;
  const million = rounded(cell.rowsPerWeek / 1e6);
  return [
    table(
      [`${rounded(load.events)} events per second`, 'in all', 'in each cell'],
      [
        [
          'deliveries per second, on average',
          rounded(scale.deliveriesPerSecond),
          rounded(scale.deliveriesPerSecond / scale.cells),
        ],
        [
          'deliveries per second, busiest hour',
          rounded(scale.deliveriesPerSecond * load.peak),
          rounded(cell.deliveriesAtPeak),
        ],
        ['deliveries per second that a Postgres bears', '', rounded(cell.maxDeliveries)],
        ['cells that Postgres’ processors ask for', String(scale.cellsByCpu), ''],
        ['cells that its storage asks for', String(scale.cellsByStorage), ''],
        ['cells', String(scale.cells), '1'],
        ['cores for APIs', rounded(scale.cells * cell.cores.api), rounded(cell.cores.api)],
        ['cores for workers', rounded(scale.cells * cell.cores.worker), rounded(cell.cores.worker)],
        ['cores for Temporal', rounded(scale.cells * cell.cores.temporal), rounded(cell.cores.temporal)],
        ['cores for Postgres', rounded(scale.cells * cell.cores.postgres), rounded(cell.cores.postgres)],
        ['processes of Waybill', rounded(scale.cells * cell.processes), rounded(cell.processes)],
        ['their connections to Postgres', rounded(scale.cells * cell.connections), rounded(cell.connections)],
        ['stored, TiB', rounded(scale.storedTib), rounded(cell.storedTib)],
        ['deliveries in a partition of a week, millions', '', million],
        ['Temporal’s writes per second, busiest hour', '', rounded(cell.temporalWrites)],
        ['Temporal’s shards', '', rounded(cell.shards)],
      ],
    ),
    table(
      ['per million deliveries', ''],
      [
        ...PARTS.map((part) => [`core-hours of ${NAMES[part]}`, rounded(cpu[part] / 3.6)]),
        ['core-hours in all', rounded(cost.coreHours)],
        ['GiB-months', rounded(cost.gibMonths)],
        [
          `cost, at ${ASSUMED.coreHour} for a core-hour and ${ASSUMED.gibMonth} for a GiB-month`,
          rounded(cost.money),
        ],
      ],
    ),
  ].join('\n\n');
}
const NAMES = { api: 'APIs', worker: 'workers', temporal: 'Temporal', postgres: 'Postgres' } as const;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const number = (name: keyof Load, about: string) =>
    [
      `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} <n>`,
      about,
      positiveNumber,
      thousandfold[name],
    ] as const;
  const options = new Command('scale-model')
    .option(...number('events', 'per second, on average'))
    .option(...number('deliveriesPerEvent', 'how many webhooks an event has'))
    .option(...number('peak', 'the busiest hour over the average'))
    .option(...number('failing', 'share of deliveries whose first attempt fails'))
    .option(...number('retries', 'that each of these takes'))
    .option(...number('retentionDays', 'RETENTION'))
    .option(...number('postgresCores', 'of the Postgres of a cell'))
    .option(...number('postgresTib', 'that it is to keep'))
    .parse()
    .opts<Load>();
  console.log(scaleTables(options));
}
