/** A Prometheus with the delivered and the shortened rules, if it is installed. */
import { spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import { endChild } from '../../bench/children.ts';
import { freePort } from '../../test/support/servers/ports.ts';
import { configuration, SHORTENED, shortened } from './rules.ts';

const READY_MS = 30_000;
const delivered = fileURLToPath(new URL('../../monitoring/prometheus', import.meta.url));

/** The names of firing alerts. */
export interface Firing {
  /** Those that fire by the delivered rules. */
  readonly delivered: readonly string[];
  readonly shortened: readonly string[];
}

/** A running Prometheus. */
export interface Prometheus {
  firing(): Promise<Firing>;
  stop(): Promise<void>;
}

const alertSchema = v.object({ state: v.string() });
const rulesSchema = v.object({
  data: v.object({
    groups: v.array(
      v.object({
        name: v.string(),
        rules: v.array(v.object({ name: v.string(), alerts: v.array(alertSchema) })),
      }),
    ),
  }),
});

const querySchema = v.object({ data: v.object({ result: v.array(v.unknown()) }) });

/**
 * Starts it and waits until it has read the metrics of every target: until then each counts as gone.
 * @param directory for its configuration, data and log
 * @param targets `host:port` of each process
 * @param factor divides every `for:`, and the time between scrapes, which is two seconds at least
 * @throws Error with its log if it does not come up or cannot read a target, or is not installed
 */
export async function startPrometheus(
  directory: string,
  targets: readonly string[],
  factor: number,
): Promise<Prometheus> {
  await mkdir(directory, { recursive: true });
  const files = ['recording.yml', 'alerts.yml', 'shortened.yml'].map((name) => join(directory, name));
  for (const name of ['recording.yml', 'alerts.yml']) await cp(join(delivered, name), join(directory, name));
  const alerts = await readFile(join(delivered, 'alerts.yml'), 'utf8');
  await writeFile(join(directory, 'shortened.yml'), shortened(alerts, factor));
  const config = join(directory, 'prometheus.yml');
  const everySeconds = Math.max(2, Math.round(15 / factor));
  await writeFile(config, configuration({ targets, everySeconds, ruleFiles: files }));
  const address = `127.0.0.1:${await freePort()}`;
  const logFile = join(directory, 'prometheus.log');
  const log = openSync(logFile, 'a');
  const child = spawn(
    'prometheus',
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=${address}`,
    ],
    { stdio: ['ignore', log, log] },
  );
  const failed = new Promise<never>((_resolve, reject) => {
    child.once('error', reject);
    child.once('exit', async () => reject(new Error(`Prometheus ended: ${await readFile(logFile, 'utf8')}`)));
  });
  failed.catch(() => {});
  const ready = async () => {
    for (const end = Date.now() + READY_MS; Date.now() < end; await sleep(200)) {
      const answer = await fetch(`http://${address}/api/v1/query?query=up==1`).catch(() => undefined);
      if (!answer?.ok) continue;
      const { result } = v.parse(querySchema, await answer.json()).data;
      if (result.length === targets.length) return;
    }
    throw new Error(`Prometheus does not read all metrics; see ${logFile}.`);
  };
  await Promise.race([failed, ready()]);
  return {
    async firing() {
      const answer = await fetch(`http://${address}/api/v1/rules?type=alert`);
      const { groups } = v.parse(rulesSchema, await answer.json()).data;
      const names = (isShortened: boolean) =>
        groups
          .filter(({ name }) => (name === SHORTENED) === isShortened)
          .flatMap(({ rules }) => rules)
          .filter(({ alerts: raised }) => raised.some(({ state }) => state === 'firing'))
          .map(({ name }) => name);
      return { delivered: names(false), shortened: names(true) };
    },
    stop: () => endChild(child, () => child.kill('SIGTERM')),
  };
}
