/** `bin/waybill.js` runs the sources of a checkout or their build, never an outdated build. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

/** The program that runs if these files were written at these times, in seconds. */
async function runs(files: Readonly<Record<string, number>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'waybill-bin-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await cp(join(root, 'bin'), join(folder, 'bin'), { recursive: true });
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  for (const [file, seconds] of Object.entries(files)) {
    const path = join(folder, file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, `console.log(${JSON.stringify(file)});`);
    await utimes(path, seconds, seconds);
    // A folder's time is that of its newest entry.
    await utimes(dirname(path), seconds, seconds);
  }
  const temporary = join(folder, 'temporary');
  await mkdir(temporary);
  const env = { ...process.env, TMPDIR: temporary, TSX_DISABLE_CACHE: undefined };
  const { stdout } = await run(process.execPath, [join(folder, 'bin/waybill.js')], { env });
  // Nothing is compiled to or run from the temporary folder, where another user of the machine could plant code.
  expect(await readdir(temporary)).toEqual([]);
  return stdout.trim();
}

const source = 'src/cli/main.ts';
const built = 'dist/src/cli/main.js';
const lastBuilt = 'dist/workflow-bundle.js';

it('an image has only the build', async () => {
  expect(await runs({ [built]: 100, [lastBuilt]: 100 })).toBe(built);
});

it('a checkout that was never built runs its sources', async () => {
  expect(await runs({ [source]: 100 })).toBe(source);
});

it('a build that is newer than all sources is used', async () => {
  expect(await runs({ [source]: 100, [built]: 200, [lastBuilt]: 200 })).toBe(built);
});

it('a source that is newer than the build is not passed over', async () => {
  const before = { [source]: 100, [built]: 200, [lastBuilt]: 200 };
  expect(await runs({ ...before, 'workflows/index.ts': 300 })).toBe(source);
  expect(await runs({ ...before, 'receiver/src/index.ts': 300 })).toBe(source);
});

it('a build that was not finished is not used', async () => {
  expect(await runs({ [source]: 100, [built]: 200 })).toBe(source);
});

it('every command of the package runs the sources in the same way', async () => {
  const text = await readFile(join(root, 'package.json'), 'utf8');
  expect(text.match(/--import \S+ \S+\.ts/g)?.length).toBeGreaterThan(3);
  expect(text).not.toMatch(/--import (?!\.\/bin\/sources\.js )/);
});
