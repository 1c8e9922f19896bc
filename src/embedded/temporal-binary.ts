/**
 * Where the Temporal dev server comes from: a `temporal` on PATH, one kept in the user's cache folder or left by an
 * earlier `go install`, the official download, or a build with a Go toolchain.
 * @module
 */
import { execFile, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { access, chmod, constants, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { EnvHttpProxyAgent, fetch } from 'undici';

const run = promisify(execFile);

/** Later tags need a sibling module that is not published, so `go install` cannot build them. */
const VERSION = 'v1.5.1';
const MODULE = 'github.com/temporalio/cli';
const EXECUTABLE = process.platform === 'win32' ? 'temporal.exe' : 'temporal';
/** Until the download's first byte, in milliseconds: a machine that cannot reach the host should not wait long. */
const DOWNLOAD_CONNECT_MS = 5_000;
/** For the whole download of about 100 MB, in milliseconds. */
const DOWNLOAD_TOTAL_MS = 600_000;
/** Between two lines that say how far a build is, in milliseconds. */
const PROGRESS_MS = 10_000;

/** Folders in which the program is being got. */
const WORK_PREFIX = 'getting-temporal-';
/** Nobody is at work any more in a folder this old, in milliseconds. */
const ABANDONED_MS = 6 * 3_600_000;

/** What the search is given. */
export interface TemporalSearch {
  /** Receives one line of text for every step that takes time. */
  readonly report: (text: string) => void;
  /** Default: the user's cache folder for Waybill. */
  readonly cacheDirectory?: string;
  /** Default: `process.env`. */
  readonly env?: NodeJS.ProcessEnv;
}

/** The user's cache folder for Waybill, as the system's custom is. */
export function userCacheDirectory(env: NodeJS.ProcessEnv = process.env): string {
  if (env.XDG_CACHE_HOME) return join(env.XDG_CACHE_HOME, 'waybill');
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Caches', 'waybill');
  if (process.platform === 'win32' && env.LOCALAPPDATA) return join(env.LOCALAPPDATA, 'waybill', 'Cache');
  return join(homedir(), '.cache', 'waybill');
}

/** True when the file is a `temporal` that can run a dev server on this machine. */
async function works(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    await run(path, ['server', 'start-dev', '--help'], { timeout: 20_000 });
    return true;
  } catch {
    return false;
  }
}

async function onPath(env: NodeJS.ProcessEnv): Promise<string | null> {
  for (const directory of (env.PATH ?? '').split(delimiter).filter(Boolean)) {
    const path = join(directory, EXECUTABLE);
    if (await works(path)) return path;
  }
  return null;
}

/** Where `go install` puts programs, or null without a Go toolchain. */
async function goBinDirectory(env: NodeJS.ProcessEnv): Promise<string | null> {
  try {
    const { stdout } = await run('go', ['env', 'GOBIN', 'GOPATH'], { env, timeout: 20_000 });
    const [bin = '', path = ''] = stdout.split('\n');
    const first = path.split(delimiter)[0];
    return bin || (first ? join(first, 'bin') : null);
  } catch {
    return null;
  }
}

/** The program that an earlier `go install` of our version left. */
async function installedByGo(directory: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  const path = join(directory, EXECUTABLE);
  try {
    const { stdout } = await run('go', ['version', '-m', path], { env, timeout: 20_000 });
    const built = new RegExp(`\\bmod\\s+${MODULE}\\s+${VERSION}\\s`).test(stdout);
    return built && (await works(path)) ? path : null;
  } catch {
    return null;
  }
}

/** Downloads the official archive, as the Temporal SDK's testing package does. Answers the unpacked program. */
async function download(into: string, env: NodeJS.ProcessEnv): Promise<string> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  const url = `https://temporal.download/cli/archive/${VERSION}?platform=${platform}&arch=${arch}`;
  // Unset options are left out: the agent would read an explicit `undefined` as "no proxy".
  const agent = new EnvHttpProxyAgent({
    connectTimeout: DOWNLOAD_CONNECT_MS,
    headersTimeout: DOWNLOAD_CONNECT_MS,
    ...(env.HTTPS_PROXY ? { httpsProxy: env.HTTPS_PROXY } : {}),
  });
  try {
    const response = await fetch(url, { dispatcher: agent, signal: AbortSignal.timeout(DOWNLOAD_TOTAL_MS) });
    if (!response.ok || response.body === null) throw new Error(`HTTP ${response.status}`);
    const archive = join(into, 'archive');
    await pipeline(Readable.fromWeb(response.body), createWriteStream(archive));
    // Every system since Windows 10 brings a `tar`, and bsdtar reads the zip that Windows gets.
    await run('tar', ['-xf', archive, '-C', into]);
    await rm(archive);
  } finally {
    await agent.close().catch(() => {});
  }
  const path = join(into, EXECUTABLE);
  await chmod(path, 0o755);
  if (!(await works(path))) throw new Error('the downloaded program does not run on this machine');
  return path;
}

/** Builds the program with `go install`, saying every few seconds how far it is. Answers the program. */
async function build(into: string, { report, env }: Required<Omit<TemporalSearch, 'cacheDirectory'>>) {
  const started = Date.now();
  const seconds = () => Math.round((Date.now() - started) / 1_000);
  let downloaded = 0;
  let compiled = 0;
  let last = '';
  const timer = setInterval(() => {
    report(`  … ${seconds()} s: ${downloaded} modules fetched, ${compiled} packages compiled`);
  }, PROGRESS_MS);
  try {
    await new Promise<void>((resolve, reject) => {
      const child = spawn('go', ['install', '-v', `${MODULE}/cmd/temporal@${VERSION}`], {
        // Without cgo it needs no C compiler.
        env: { ...env, GOBIN: into, CGO_ENABLED: '0' },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      const abandon = () => child.kill('SIGINT');
      process.once('exit', abandon);
      child.once('close', () => process.off('exit', abandon));
      createInterface({ input: child.stderr }).on('line', (line) => {
        if (line.startsWith('go: downloading')) downloaded += 1;
        else if (!line.startsWith('go:') && !line.includes(' ')) compiled += 1;
        else last = line;
      });
      child.once('error', reject);
      child.once('exit', (code) =>
        code === 0 ? resolve() : reject(new Error(last || `go install ended with code ${code}`)),
      );
    });
  } finally {
    clearInterval(timer);
  }
  report(`  built in ${seconds()} s`);
  return join(into, EXECUTABLE);
}

/** Removes what a start that was killed while it downloaded or built has left. */
async function removeAbandoned(cache: string): Promise<void> {
  for (const name of await readdir(cache)) {
    const path = join(cache, name);
    const old = name.startsWith(WORK_PREFIX) && (await stat(path)).mtimeMs < Date.now() - ABANDONED_MS;
    if (old) await rm(path, { recursive: true, force: true });
  }
}

const reason = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
};

/**
 * Finds a Temporal program that can run a dev server, or gets one; what it gets is kept in the cache folder.
 * @returns the path of the program
 * @throws Error with one sentence that names the ways out
 */
export async function findTemporal(search: TemporalSearch): Promise<string> {
  const env = search.env ?? process.env;
  const { report } = search;
  const cache = search.cacheDirectory ?? userCacheDirectory(env);
  const kept = join(cache, `temporal-cli-${VERSION}`, EXECUTABLE);

  const found = (await onPath(env)) ?? ((await works(kept)) ? kept : null);
  if (found !== null) return found;
  const goBin = await goBinDirectory(env);
  const installed = goBin === null ? null : await installedByGo(goBin, env);
  if (installed !== null) return installed;

  await mkdir(join(cache, `temporal-cli-${VERSION}`), { recursive: true });
  await removeAbandoned(cache);
  // On the same file system as its place, so that the finished program appears there at once or not at all.
  const work = await mkdtemp(join(cache, WORK_PREFIX));
  const failures: string[] = [];
  try {
    let program: string | undefined;
    report(`Temporal dev server: downloading Temporal CLI ${VERSION} (once; kept in ${cache}) …`);
    try {
      program = await download(work, env);
    } catch (error) {
      failures.push(`the download failed (${reason(error)})`);
      report(`  the download does not work here: ${reason(error)}`);
    }
    if (program === undefined && goBin !== null) {
      report('Temporal dev server: building it with go install (once; about three minutes) …');
      try {
        program = await build(work, { report, env });
      } catch (error) {
        failures.push(`building it failed (${reason(error)})`);
      }
    } else if (program === undefined) failures.push('there is no Go toolchain to build it with');
    if (program === undefined) {
      throw new Error(
        `No Temporal server: ${failures.join('; ')}. Put the Temporal CLI on PATH (https://docs.temporal.io/cli), ` +
          'install Go, or set TEMPORAL_ADDRESS to a running server.',
      );
    }
    await rename(program, kept);
    return kept;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
