/**
 * Where the Temporal dev server comes from, with programs that only pretend to be one.
 * @module
 */
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findTemporal } from '../../src/embedded/temporal-binary.ts';

let directory: string;
let said: string[];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'waybill-temporal-'));
  said = [];
});
afterEach(() => rm(directory, { recursive: true, force: true }));

/** A program that ends with this code, whatever it is asked. */
async function pretend(path: string, code = 0): Promise<string> {
  const file = join(directory, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `#!/bin/sh\nexit ${code}\n`, { mode: 0o755 });
  return file;
}

function search(path: readonly string[]): Promise<string> {
  return findTemporal({
    report: (text) => said.push(text),
    cacheDirectory: join(directory, 'cache'),
    // Nobody listens at this proxy: the download fails at once on every machine.
    env: { PATH: path.map((part) => join(directory, part)).join(':'), HTTPS_PROXY: 'http://127.0.0.1:1' },
  });
}

it('takes the first one on PATH that runs', async () => {
  await pretend('broken/temporal', 1);
  const working = await pretend('working/temporal');
  await pretend('cache/temporal-cli-v1.5.1/temporal');
  expect(await search(['missing', 'broken', 'working'])).toBe(working);
  expect(said).toEqual([]);
});

it('takes the one in the cache when there is none on PATH', async () => {
  const kept = await pretend('cache/temporal-cli-v1.5.1/temporal');
  expect(await search(['empty'])).toBe(kept);
});

it('says in one sentence what was tried and what to do, and leaves nothing half done', async () => {
  await expect(search(['empty'])).rejects.toThrow(
    /^No Temporal server: the download failed \(.+\); there is no Go toolchain to build it with\. Put .+\.$/,
  );
  expect(said[0]).toMatch(/^Temporal dev server: downloading /);
  expect(await readdir(join(directory, 'cache'))).toEqual(['temporal-cli-v1.5.1']);
});
