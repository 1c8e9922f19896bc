/** Schemathesis: installed once into its own virtual environment, and run. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { KnownRecords } from './records.ts';

const VERSION = '4.32.5';
const cache = fileURLToPath(new URL('../../node_modules/.cache/schemathesis/', import.meta.url));
const hooks = fileURLToPath(new URL('./hooks.py', import.meta.url));
const run = promisify(execFile);

/**
 * Answers the path of the program; installs it first if needed.
 * @throws Error with one sentence if there is no Python, or the package index cannot be reached
 */
export async function findSchemathesis(say: (text: string) => void): Promise<string> {
  const folder = join(cache, VERSION);
  const program = join(folder, 'bin', 'schemathesis');
  const ready = await access(join(folder, 'ready')).then(
    () => true,
    () => false,
  );
  if (ready) return program;
  say(`Installing Schemathesis ${VERSION} …`);
  await rm(folder, { recursive: true, force: true });
  await mkdir(cache, { recursive: true });
  try {
    await run('python3', ['-m', 'venv', folder]);
    await run(join(folder, 'bin', 'pip'), ['install', '--quiet', `schemathesis==${VERSION}`]);
    await run('touch', [join(folder, 'ready')]);
  } catch (error) {
    const { stderr = '', message = '' } = Object(error);
    const why = String(stderr || message)
      .trim()
      .split('\n')
      .at(-1);
    throw new Error(`The fuzz needs Python 3.10 or later with venv, and PyPI: ${why}`);
  }
  return program;
}

/** One run. */
export interface FuzzRun {
  /** The URL of `/openapi.json`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly records: KnownRecords;
  readonly seconds: number;
  /** Generated requests per operation. */
  readonly examples: number;
  readonly seed: number;
  /** Only paths that match this. */
  readonly only?: string;
}

/** The checks of every response. */
const checks = [
  'no_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'unsupported_method',
  'allow_header_conformance',
  'valid_is_accepted',
];

/** Runs it; answers its exit code: 0 if every check passed. */
export async function runSchemathesis(program: string, options: FuzzRun): Promise<number> {
  const { url, headers, records, seconds, examples, seed, only } = options;
  const args = [
    'run',
    url,
    ...Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
    ...['--phases', 'examples,coverage,fuzzing', '--checks', checks.join(','), '--continue-on-failure'],
    ...['--max-time', String(seconds), '--max-examples', String(examples), '--seed', String(seed)],
    // A response may wait for a failing call to Temporal: ten seconds if no server listens.
    ...['--request-timeout', '20'],
    // One worker: Python 3.11 loses count when two threads parse source at once, as Hypothesis does.
    ...['--workers', '1', '--generation-database', 'none', '--suppress-health-check', 'all'],
    ...(only === undefined ? [] : ['--include-path-regex', only]),
  ];
  const child = spawn(program, args, {
    stdio: ['ignore', 'inherit', 'inherit'],
    // It leaves files where it runs.
    cwd: cache,
    env: {
      ...process.env,
      SCHEMATHESIS_HOOKS: hooks,
      KNOWN_RECORDS: JSON.stringify(records),
      PYTHONPATH: '',
    },
  });
  const [code] = await once(child, 'exit');
  return typeof code === 'number' ? code : 1;
}
