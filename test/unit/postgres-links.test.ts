/** The links that the embedded Postgres needs, where no script of npm has made them. */
import { mkdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeLinks } from '../../src/embedded/postgres-cluster.ts';
import { folderOfTest } from '../support/ends.ts';

/** A package with one library that is to be known by two more names. */
async function unpacked(): Promise<string> {
  const folder = await folderOfTest('waybill-links-');
  await mkdir(join(folder, 'native/lib'), { recursive: true });
  await writeFile(join(folder, 'native/lib/libpq.so.5.18'), 'the library');
  const links = ['native/lib/libpq.so', 'native/lib/libpq.so.5'].map((target) => ({
    source: 'native/lib/libpq.so.5.18',
    target,
  }));
  await writeFile(join(folder, 'native/pg-symlinks.json'), JSON.stringify(links));
  return folder;
}

test('missing links are created, relative, even by two starts at once; existing ones stay', async () => {
  const folder = await unpacked();
  await symlink('elsewhere', join(folder, 'native/lib/libpq.so'));
  await Promise.all([makeLinks(folder), makeLinks(folder)]);
  await makeLinks(folder);
  expect(await readlink(join(folder, 'native/lib/libpq.so'))).toBe('elsewhere');
  expect(await readlink(join(folder, 'native/lib/libpq.so.5'))).toBe('libpq.so.5.18');
  expect(await readFile(join(folder, 'native/lib/libpq.so.5'), 'utf8')).toBe('the library');
});

test('a failure to create them is reported in one sentence', async () => {
  const folder = await unpacked();
  await rm(join(folder, 'native/lib'), { recursive: true });
  await expect(makeLinks(folder)).rejects.toThrow(
    `they cannot be created in ${folder}/native/lib: start Waybill once`,
  );
});
