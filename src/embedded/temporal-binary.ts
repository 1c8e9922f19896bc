/**
 * Where the Temporal dev server comes from: a `temporal` on PATH that is new enough, one got or built earlier, or one
 * that is got now. What is fetched is neither kept nor run before its SHA-256 is the one that `release.ts` says.
 */
import { access, constants, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { UserError } from '../lib/user-error.ts';
import type { Getting } from './temporal-cli/getting.ts';
import { goBinDirectory, installedByGo } from './temporal-cli/go.ts';
import {
  atLeast,
  EXECUTABLE,
  hasSha256,
  OLDEST_SERVER,
  serverVersion,
  serves,
} from './temporal-cli/program.ts';
import { type Release, releaseFor } from './temporal-cli/release.ts';
import { keptBuild, keptDownload, type Source, sourcesFor } from './temporal-cli/sources.ts';

/** Folders in which the program is being fetched or built. */
const WORK_PREFIX = 'getting-temporal-';
/** A working folder this old, in milliseconds, is abandoned. */
const ABANDONED_MS = 6 * 3_600_000;

/** What the search is given. */
export interface TemporalSearch {
  /** Receives one line of text for every step that takes time. */
  readonly report: (text: string) => void;
  /** Ends the search: what it had begun is gone when it rejects. */
  readonly signal?: AbortSignal;
  /** Default: the user's cache folder for Waybill. */
  readonly cacheDirectory?: string;
  /** Default: `process.env`. */
  readonly env?: NodeJS.ProcessEnv;
  /** What is downloaded; null: nothing. Default: the release for this platform. */
  readonly release?: Release | null;
}

/** The same, complete. */
type Ready = Getting & Required<TemporalSearch>;

/** The user's cache folder for Waybill, as the system's custom is. */
export function userCacheDirectory(env: NodeJS.ProcessEnv = process.env): string {
  if (env.XDG_CACHE_HOME) return join(env.XDG_CACHE_HOME, 'waybill');
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Caches', 'waybill');
  if (process.platform === 'win32' && env.LOCALAPPDATA) return join(env.LOCALAPPDATA, 'waybill', 'Cache');
  return join(homedir(), '.cache', 'waybill');
}

/** The first `temporal` on PATH that is new enough; of an older one it says so. */
async function onPath({ env, report }: Ready): Promise<string | null> {
  for (const directory of (env.PATH ?? '').split(delimiter).filter(Boolean)) {
    const path = join(directory, EXECUTABLE);
    const there = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (!there) continue;
    const version = await serverVersion(path);
    if (version !== null && atLeast(version, OLDEST_SERVER)) return path;
    const what = version === null ? 'does not say which server it contains' : `contains server ${version}`;
    report(`Temporal dev server: ${path} ${what}; ${OLDEST_SERVER} or newer is needed, so it is not used.`);
  }
  return null;
}

/** The program that an earlier start has downloaded. */
async function downloadedEarlier({ cacheDirectory, release }: Ready): Promise<string | null> {
  if (release === null) return null;
  const path = keptDownload(cacheDirectory, release);
  // Checked against its hash at every start: anybody may have changed the cache folder since.
  return (await hasSha256(path, release.programSha256)) ? path : null;
}

/** The program built by an earlier start, or installed with Go. */
async function builtEarlier(search: Ready, goBin: string | null): Promise<string | null> {
  const path = keptBuild(search.cacheDirectory);
  if (await serves(path)) return path;
  return goBin === null ? null : await installedByGo(goBin, search);
}

/** Removes what a start that was killed while it downloaded or built has left. */
async function removeAbandoned(cache: string): Promise<void> {
  for (const name of await readdir(cache)) {
    const path = join(cache, name);
    const old = name.startsWith(WORK_PREFIX) && (await stat(path)).mtimeMs < Date.now() - ABANDONED_MS;
    if (old) await rm(path, { recursive: true, force: true });
  }
}

/** Gets the program from one source; it appears in its place at once or not at all. */
async function getFrom({ get, place }: Source, cache: string): Promise<string> {
  // On the same file system as its place, so that the finished program can be moved there in one step.
  const work = await mkdtemp(join(cache, WORK_PREFIX));
  try {
    const program = await get(work);
    await mkdir(dirname(place), { recursive: true });
    await rename(program, place);
    return place;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** What went wrong, in one line. */
function reason(error: unknown): string {
  const deepest = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return (deepest instanceof Error ? deepest.message : String(deepest)).split('\n')[0] ?? '';
}

/**
 * Finds a Temporal program that can run a dev server, or gets one; what it gets is kept in the cache folder.
 * @returns the path of the program
 * @throws UserError that names the ways out; the signal's reason when that was aborted
 */
export async function findTemporal(search: TemporalSearch): Promise<string> {
  const env = search.env ?? process.env;
  const ready: Ready = {
    report: search.report,
    signal: search.signal ?? new AbortController().signal,
    env,
    cacheDirectory: search.cacheDirectory ?? userCacheDirectory(env),
    release: search.release === undefined ? releaseFor() : search.release,
  };
  const { report, signal, cacheDirectory: cache, release } = ready;
  const found = (await onPath(ready)) ?? (await downloadedEarlier(ready));
  if (found !== null) return found;
  const goBin = await goBinDirectory(ready);
  const built = await builtEarlier(ready, goBin);
  if (built !== null) return built;

  await mkdir(cache, { recursive: true });
  await removeAbandoned(cache);
  const { sources, unavailable } = await sourcesFor(ready, cache, release, goBin);
  const failures: string[] = [];
  for (const source of sources) {
    report(`Temporal dev server: ${source.announcement}`);
    try {
      return await getFrom(source, cache);
    } catch (error) {
      signal.throwIfAborted();
      failures.push(`${source.name} failed (${reason(error)})`);
      report(`  that did not work: ${reason(error)}`);
    }
  }
  throw new UserError(
    `No Temporal server: ${[...failures, ...unavailable].join('; ')}. Put the Temporal CLI on PATH ` +
      '(https://docs.temporal.io/cli), install Python or Go, or set TEMPORAL_ADDRESS to a running server.',
  );
}
