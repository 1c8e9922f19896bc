import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { link, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { type DataDir, openDataDir } from '../../src/embedded/data-dir.ts';
import { lockDataDir, putInPlace } from '../../src/embedded/data-dir-lock.ts';
import { inaccessibleFolder } from '../../src/embedded/own-files.ts';
import { UserError } from '../../src/lib/user-error.ts';
import { folderOfTest } from '../support/ends.ts';

let directory: string;
let dataDir: DataDir;
beforeEach(async () => {
  directory = await folderOfTest('waybill-dir-');
  dataDir = await openDataDir(join(directory, 'data'));
});

it('a value is created once, readable by its owner alone', async () => {
  expect(await dataDir.readOrCreate('key', () => 'one')).toBe('one');
  expect(await dataDir.readOrCreate('key', () => 'two')).toBe('one');
  expect((await stat(dataDir.join('key'))).mode & 0o777).toBe(0o600);
});

it('a file that cannot be read is not taken for a missing one', async () => {
  await symlink('loop', dataDir.join('loop'));
  await symlink('loop', dataDir.join('key'));
  await expect(dataDir.readOrCreate('key', () => 'two')).rejects.toThrow(/key cannot be read: ELOOP/);
  // As Docker makes it where the file that it should mount is missing.
  await mkdir(dataDir.join('folder'));
  const folder = dataDir.readOrCreate('folder', () => 'two');
  await expect(folder).rejects.toBeInstanceOf(UserError);
  await expect(folder).rejects.toThrow(/folder cannot be read: EISDIR/);
});

it('a file that cannot be replaced leaves no temporary one behind', async () => {
  await mkdir(dataDir.join('key'));
  await expect(dataDir.write('key', 'one')).rejects.toThrow('EISDIR');
  expect(await readdir(dataDir.path)).toEqual(['key']);
});

it('an instance is read as written, and as empty if its file is damaged', async () => {
  await dataDir.writeInstance({ databaseUrl: 'postgres://here' });
  expect(await dataDir.readInstance()).toEqual({ databaseUrl: 'postgres://here' });
  await dataDir.write('instance.json', '{');
  expect(await dataDir.readInstance()).toEqual({});
});

it('the lock of a process that is gone or not a Waybill is taken over, and released', async () => {
  const main = join(directory, 'main.js');
  await writeFile(main, 'process.stdin.resume()');
  const other = spawn(process.execPath, [main], { stdio: ['pipe', 'ignore', 'inherit'] });
  onTestFinished(() => void other.kill());
  await once(other, 'spawn');
  for (const pid of ['', '4194304', String(process.ppid), String(other.pid)]) {
    await writeFile(dataDir.join('lock'), pid);
    const release = await lockDataDir(dataDir);
    expect(await readFile(dataDir.join('lock'), 'utf8')).toBe(String(process.pid));
    await release();
    expect(await readdir(dataDir.path)).toEqual([]);
  }
});

it('two processes that find the same stale lock: one gets it', async () => {
  const lock = dataDir.join('lock');
  const first = dataDir.join('first');
  const second = dataDir.join('second');
  await writeFile(lock, 'gone');
  await writeFile(first, 'first');
  await writeFile(second, 'second');
  const refuse = async (path: string) => {
    if ((await readFile(path, 'utf8')) !== 'gone') throw new UserError('in use');
  };
  let firstHas = false;
  const late = putInPlace(second, lock, async (path) => {
    await refuse(path);
    // Both have judged it by now; the first goes on before the second does.
    if (!firstHas) await putInPlace(first, lock, refuse);
    firstHas = true;
  });
  await expect(late).rejects.toThrow('in use');
  expect(await readFile(lock, 'utf8')).toBe('first');
  expect(await readdir(dataDir.path)).toEqual(['first', 'lock', 'second']);
});

// Each container's program has the id 1: to the second one the lock looks like its own, left by an earlier life.
it.runIf(process.platform === 'linux')(
  "a process outside this one's view keeps the folder while it lives",
  async () => {
    const release = await lockDataDir(dataDir);
    await expect(lockDataDir(dataDir)).rejects.toThrow(/in use by a Waybill that this one cannot see/);
    await release();
    await (await lockDataDir(dataDir))();
    expect(await readdir(dataDir.path)).toEqual([]);
  },
);

it.runIf(process.platform === 'linux')(
  'the socket of a killed process is replaced, in a folder of any depth',
  async () => {
    const deep = await openDataDir(join(directory, 'deep'.repeat(40), 'data'));
    const left = createServer().listen(join(directory, 'left'));
    await once(left, 'listening');
    await link(join(directory, 'left'), deep.join('lock.socket'));
    await new Promise((resolve) => left.close(resolve));
    const release = await lockDataDir(deep);
    await expect(lockDataDir(deep)).rejects.toBeInstanceOf(UserError);
    await release();
    expect(await readdir(deep.path)).toEqual([]);
  },
);

it('the first folder that another user cannot enter is reported', async () => {
  const somebody = { uid: 54_321, gid: 54_321 };
  // mkdtemp creates a folder that only its owner can enter.
  expect(await inaccessibleFolder(join(dataDir.path, 'postgres'), somebody)).toBe(directory);
  const { uid, gid } = await stat(directory);
  expect(await inaccessibleFolder(dataDir.path, { uid, gid })).toBeNull();
});

it('a file in place of the folder, or of one above it, is refused in one sentence', async () => {
  const file = join(directory, 'file');
  await writeFile(file, '');
  for (const path of [file, join(file, 'data'), join(file, 'deep', 'data')]) {
    const refused = openDataDir(path);
    await expect(refused).rejects.toBeInstanceOf(UserError);
    await expect(refused).rejects.toThrow(/^DATA_DIR must be a folder .+\.$/);
    await expect(refused).rejects.toThrow(`, not "${path}": `);
  }
});

// Node's recursive `mkdir` tries it for ever.
it.runIf(process.platform === 'linux')('a folder that the file system cannot create is refused', async () => {
  for (const path of ['/proc/nope', '/proc/nope/data'])
    await expect(openDataDir(path)).rejects.toThrow(`not "${path}": ENOENT`);
});
