/** `npm run release -- --dry-run`: everything of a release except its publication and its tests, in a folder of its own. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readTopSection, readVersion } from '../../release/version.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
let out: string;
let output: string;
let code: number | string | undefined;

beforeAll(async () => {
  out = await mkdtemp(join(tmpdir(), 'waybill-release-'));
  const args = ['run', '--silent', 'release', '--', '--dry-run', '--without-tests', '--out', out];
  await new Promise<void>((resolve) => {
    execFile('npm', args, { cwd: root }, (error, stdout, stderr) => {
      code = error?.code ?? 0;
      output = stdout + stderr;
      resolve();
    });
  });
});
afterAll(() => rm(out, { recursive: true, force: true }));

it('finds nothing wrong with what it made, and says what a tag still needs', () => {
  expect({ code, output }).toMatchObject({ code: 0 });
  expect(output).not.toContain('Wrong with what was made');
  expect(output).toContain('To be done before the tag:');
});

it('makes both packages of this version, and the lists of their files', async () => {
  const version = await readVersion();
  const names = await readdir(out);
  const archives = names.filter((name) => name.endsWith('.tgz') && name !== 'docs.tar.gz');
  expect(archives).toHaveLength(2);
  for (const archive of archives) {
    expect(archive.endsWith(`-${version}.tgz`)).toBe(true);
    expect(await readFile(join(out, `${archive}.files.txt`), 'utf8')).toMatch(/^ *\d+ {2}package\.json$/m);
  }
});

it('lists every package that the server is installed with, and none of those for development', async () => {
  const { components } = JSON.parse(await readFile(join(out, 'sbom.cdx.json'), 'utf8'));
  const names = components.map(({ name }: { name: string }) => name);
  expect(names).toEqual(expect.arrayContaining(['hono', 'postgres', 'undici']));
  expect(names).not.toContain('vitest');
});

it('has the notes of the version, and checksums of everything', async () => {
  const { text } = await readTopSection();
  expect(await readFile(join(out, 'notes.md'), 'utf8')).toContain(text);
  const sums = (await readFile(join(out, 'SHA256SUMS'), 'utf8')).trim().split('\n');
  expect(sums).toHaveLength((await readdir(out)).length - 1);
  for (const line of sums) {
    const [hash, name = ''] = line.split('  ');
    const bytes = await readFile(join(out, name));
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(hash);
  }
});
