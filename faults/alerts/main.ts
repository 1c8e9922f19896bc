/**
 * `npm run alerts`: tries the delivered alerts in a Prometheus (Debian's package will do). None may fire while an
 * installation is healthy and busy; then each part is stopped, and the expected alerts must fire and resolve.
 *
 *     npm run alerts -- --healthy 10 --factor 10
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { positiveInteger, positiveNumber, wholeNumber } from '../../test/support/harness/options.ts';
import { table } from '../../test/support/harness/table.ts';
import { temporaryFolder } from '../../test/support/harness/temporary-folder.ts';
import { build } from '../../test/support/programs/build.ts';
import { stopOnInterruption } from '../../test/support/programs/stop-on-interruption.ts';
import { type Installation, startInstallation } from './installation.ts';
import { type Prometheus, startPrometheus } from './prometheus.ts';

const options = new Command('alerts')
  .description('Tries every alert that a failing part is to raise.')
  .option('--factor <n>', 'by which the `for:` of each alert is divided', positiveNumber, 10)
  .option('--healthy <minutes>', 'for which nothing may fire at first', wholeNumber, 10)
  .option('--patience <minutes>', 'for each alert to fire, and again to resolve', positiveInteger, 12)
  .option('--only <words>', 'failures that have these in their names', '')
  .parse()
  .opts<{
    readonly factor: number;
    readonly healthy: number;
    readonly patience: number;
    readonly only: string;
  }>();

/** A failure of the installation. */
interface Failure {
  readonly name: string;
  /** The alerts that must fire. If empty, no alert may fire for {@link QUIET_MS}. */
  readonly alerts: readonly string[];
  /** Alerts that must not fire, although the failure lasts longer than their `for:`. */
  readonly never?: readonly string[];
  /** How long the failure lasts at least, in milliseconds. */
  readonly lastsMs?: number;
  begin(installation: Installation): Promise<void>;
  end(installation: Installation): Promise<void>;
}

/** How long a failure without an alert is watched, in milliseconds. */
const QUIET_MS = 120_000;
/** Longer than anything may be overdue, in milliseconds. */
const OVERDUE_MS = 420_000;
/** The time between two polls, in milliseconds. Too high: the times in the table are coarser. */
const POLL_MS = 500;

const failures: readonly Failure[] = [
  {
    name: 'a receiver stops',
    alerts: [],
    begin: ({ receiver }) => receiver.stop(),
    end: ({ receiver }) => receiver.start(),
  },
  {
    name: 'a receiver hangs',
    alerts: ['WaybillQueueStaysBehind'],
    never: ['WaybillAttemptsOverdue', 'WaybillQueueNotClaimed'],
    lastsMs: OVERDUE_MS,
    async begin({ receiver }) {
      receiver.hangs = true;
    },
    async end({ receiver }) {
      receiver.hangs = false;
      await receiver.stop();
      await receiver.start();
    },
  },
  {
    name: 'Temporal stops',
    alerts: ['WaybillTemporalAway'],
    begin: ({ temporal }) => temporal.stop(),
    end: ({ temporal }) => temporal.start(),
  },
  {
    name: 'polls are refused',
    alerts: ['WaybillTemporalAway', 'WaybillAttemptsOverdue'],
    async begin({ receiver, polls }) {
      // The deliveries that Temporal has are those being retried.
      await receiver.stop();
      await polls.stop();
    },
    async end({ receiver, polls }) {
      await polls.start();
      await receiver.start();
    },
  },
  {
    name: 'Postgres stops',
    alerts: ['WaybillDatabaseAway', 'WaybillRequestsFailing'],
    begin: ({ postgres }) => postgres.stop(),
    end: ({ postgres }) => postgres.start(),
  },
  {
    name: 'the worker stops',
    alerts: ['WaybillNoWorker', 'WaybillProcessDown'],
    begin: ({ worker }) => worker.stop(),
    end: ({ worker }) => worker.start(),
  },
  {
    name: 'the API stops',
    alerts: ['WaybillNoApi', 'WaybillProcessDown'],
    begin: ({ api }) => api.stop(),
    end: ({ api }) => api.start(),
  },
  {
    name: 'everything stops',
    alerts: ['WaybillGone', 'WaybillProcessDown'],
    async begin({ api, worker, temporal, postgres }) {
      await Promise.all([api.stop(), worker.stop()]);
      await Promise.all([temporal.stop(), postgres.stop()]);
    },
    async end({ api, worker, temporal, postgres }) {
      await Promise.all([temporal.start(), postgres.start()]);
      await Promise.all([api.start(), worker.start()]);
    },
  },
];

const started = performance.now();
const say = (text: string) => console.error(`${Math.round((performance.now() - started) / 1000)} s  ${text}`);
const shutdown = stopOnInterruption();
const rows: string[][] = [];
const wrong: string[] = [];

try {
  say('building …');
  await build();
  const directory = await temporaryFolder(shutdown);
  const installation = await startInstallation(shutdown, directory, say);
  const prometheus = await startPrometheus(
    join(directory, 'prometheus'),
    installation.targets,
    options.factor,
  );
  await shutdown.add(() => prometheus.stop());
  await stayHealthy(prometheus, installation);
  for (const failure of failures.filter(({ name }) => name.includes(options.only)))
    await tryOne(failure, prometheus, installation);
} finally {
  await shutdown.stop();
}
console.log(table(['failure', 'alert', 'fired after, s', 'resolved after, s'], rows.map(forReading)));
for (const each of wrong) console.log(`\nwrong: ${each}`);
process.exitCode = wrong.length === 0 ? 0 : 1;

/** Checks that no alert fires, by the delivered or the shortened rules. */
async function stayHealthy(prometheus: Prometheus, { orders }: Installation): Promise<void> {
  say(`healthy and busy for ${options.healthy} minutes …`);
  const fired = new Set<string>();
  for (const end = Date.now() + options.healthy * 60_000; Date.now() < end; await sleep(POLL_MS)) {
    const { delivered, shortened } = await prometheus.firing();
    for (const name of [...delivered, ...shortened]) {
      if (!fired.has(name)) say(`fires: ${name}`);
      fired.add(name);
    }
  }
  rows.push([`none, ${options.healthy} minutes, ${orders.accepted} orders`, 'none', '', '']);
  for (const name of fired) wrong.push(`${name} fired on a healthy installation.`);
  if (orders.refused > 0) wrong.push(`${orders.refused} orders were refused by a healthy installation.`);
}

async function tryOne(failure: Failure, prometheus: Prometheus, installation: Installation): Promise<void> {
  const { name, alerts, never = [], lastsMs = 0 } = failure;
  say(`${name} …`);
  const before = new Set((await prometheus.firing()).shortened);
  const beganAt = Date.now();
  await failure.begin(installation);
  const fired = await watch(
    prometheus,
    beganAt,
    alerts,
    (firing, alert) => firing.includes(alert),
    before,
    lastsMs,
  );
  const endedAt = Date.now();
  await failure.end(installation);
  say(`${name}: over`);
  const resolved = await watch(
    prometheus,
    endedAt,
    alerts,
    (firing, alert) => !firing.includes(alert),
    before,
  );
  for (const alert of alerts) {
    const [after, until] = [fired.times.get(alert), resolved.times.get(alert)];
    rows.push([name, alert, inSeconds(after), inSeconds(until)]);
    if (after === undefined) wrong.push(`${name}: ${alert} did not fire.`);
    else if (until === undefined) wrong.push(`${name}: ${alert} did not resolve.`);
  }
  const others = [...new Set([...fired.others, ...resolved.others])].filter((each) => !alerts.includes(each));
  const asDelivered = new Set([...fired.asDelivered, ...resolved.asDelivered]);
  const also = others.map((other) => (asDelivered.has(other) ? `${other} (delivered too)` : other));
  if (also.length > 0) rows.push([name, `also: ${also.join(', ')}`, '', '']);
  else if (alerts.length === 0) rows.push([name, 'none', '', '']);
  for (const each of never) if (others.includes(each)) wrong.push(`${name}: ${each} fired.`);
  if (alerts.length > 0 || others.length === 0) return;
  for (const other of others) wrong.push(`${name}: ${other} fired.`);
  for (const line of installation.log().split('\n'))
    if (/reconciled|repaired|"level":50/.test(line)) say(line);
}

/** @returns after how many ms `isSo` held for each alert, which others began to fire, and which fired as delivered */
async function watch(
  prometheus: Prometheus,
  since: number,
  alerts: readonly string[],
  isSo: (firing: readonly string[], alert: string) => boolean,
  before: ReadonlySet<string>,
  leastMs = 0,
) {
  const times = new Map<string, number>();
  const others = new Set<string>();
  const asDelivered = new Set<string>();
  const patienceMs = alerts.length === 0 ? QUIET_MS : options.patience * 60_000;
  for (const end = Date.now() + patienceMs; Date.now() < end; await sleep(POLL_MS)) {
    const { shortened: firing, delivered } = await prometheus.firing();
    for (const each of firing) if (!before.has(each)) others.add(each);
    for (const each of delivered) asDelivered.add(each);
    for (const alert of alerts)
      if (!times.has(alert) && isSo(firing, alert)) {
        times.set(alert, Date.now() - since);
        say(`  ${alert}: ${Math.round((Date.now() - since) / 1000)} s`);
      }
    if (alerts.length > 0 && times.size === alerts.length && Date.now() - since >= leastMs) break;
  }
  return { times, others, asDelivered };
}

function inSeconds(ms: number | undefined): string {
  return ms === undefined ? 'never' : String(Math.round(ms / 1000));
}

/** Shows a name only in the first of its rows. */
function forReading(row: readonly string[], index: number): readonly string[] {
  return row[0] === rows[index - 1]?.[0] ? ['', ...row.slice(1)] : row;
}
