/** The program of the Temporal CLI: its server's version, the check of its hash, and the progress of its download. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, constants } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { runProgram } from '../run-program.ts';

export const EXECUTABLE = 'temporal';

/** The oldest server that will do: since 1.28 operators can pause, resume and reset activities. */
export const OLDEST_SERVER = '1.28.0';

/** The time limit of a program that only prints its version, in milliseconds. */
export const ANSWER_MS = 20_000;
/** The limit for a whole download of about 50 MB, and for its extraction, in milliseconds. */
export const TOTAL_MS = 600_000;

/** True if version `a` is `b` or newer. @example atLeast('1.32.0', '1.28.0'); // true */
export const atLeast = (a: string, b: string): boolean => a.localeCompare(b, 'en', { numeric: true }) >= 0;

/**
 * The version of the server that a `temporal` contains; null if unknown.
 * @example await serverVersion('/usr/local/bin/temporal'); // '1.32.0'
 */
export async function serverVersion(path: string): Promise<string | null> {
  try {
    await access(path, constants.X_OK);
    // "temporal version 1.9.1 (Server 1.32.0, UI 2.54.1)"
    const stdout = await runProgram(path, ['--version'], { timeoutMs: ANSWER_MS });
    return /\bServer (\d+\.\d+\.\d+)/.exec(stdout)?.[1] ?? null;
  } catch {
    return null;
  }
}

/** In bytes: with pieces of the default size it would take half as long again. */
const PIECE = 512 * 1024;

/** True if the file exists and has this SHA-256 (hex). */
export async function hasSha256(path: string, expected: string): Promise<boolean> {
  const hash = createHash('sha256');
  try {
    await pipeline(createReadStream(path, { highWaterMark: PIECE }), hash);
  } catch {
    return false;
  }
  return hash.digest('hex') === expected;
}

export interface FetchContext {
  readonly env: NodeJS.ProcessEnv;
  /** Receives one line of text for every slow step. */
  readonly report: (text: string) => void;
  /** Aborts the work and all child processes; the promise rejects when the working files are gone. */
  readonly signal: AbortSignal;
  /** Where the program is kept. */
  readonly cacheDirectory: string;
}

/** The time between two lines about a download, in milliseconds. */
const PROGRESS_MS = 5_000;

/** Runs `work`; every few seconds reports the elapsed time and the result of `state`. */
export async function withProgress<T>(
  report: FetchContext['report'],
  work: () => Promise<T>,
  state = (): string => '',
): Promise<T> {
  const started = Date.now();
  const seconds = () => Math.round((Date.now() - started) / 1_000);
  const timer = setInterval(() => report(`  … ${seconds()} s${state()}`), PROGRESS_MS);
  try {
    const result = await work();
    report(`  fetched in ${seconds()} s`);
    return result;
  } finally {
    clearInterval(timer);
  }
}
