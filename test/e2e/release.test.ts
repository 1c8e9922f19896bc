/** `npm run release -- --dry-run`: all of a release except publishing and testing, in a folder of its own. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { COMPOSE } from '../../release/artifacts.ts';
import { imageOf, readOwner } from '../../release/owner.ts';
import { readTopSection, readVersion, topSection, VERSIONED, versionsIn } from '../../release/version.ts';
import { folderOfFile, folderOfTest } from '../support/ends.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const out = await folderOfFile('waybill-release-');
let output: string;
let code: number | string | undefined;

beforeAll(async () => {
  const args = ['run', '--silent', 'release', '--', '--dry-run', '--without-tests', '--out', out];
  await new Promise<void>((resolve) => {
    execFile('npm', args, { cwd: root }, (error, stdout, stderr) => {
      code = error?.code ?? 0;
      output = stdout + stderr;
      resolve();
    });
  });
});

it('the dry run finds no fault in what it made, and says what a tag still needs', () => {
  expect({ code, output }).toMatchObject({ code: 0 });
  expect(output).not.toContain('Wrong with what was made');
  expect(output).toContain('To be done before the tag:');
});

it('the release has both packages of this version, with lists of their files', async () => {
  const version = await readVersion();
  const names = await readdir(out);
  const archives = names.filter((name) => name.endsWith('.tgz') && name !== 'docs.tar.gz');
  expect(archives).toHaveLength(2);
  for (const archive of archives) {
    expect(archive.endsWith(`-${version}.tgz`)).toBe(true);
    expect(await readFile(join(out, `${archive}.files.txt`), 'utf8')).toMatch(/^ *\d+ {2}package\.json$/m);
  }
});

it('the bill of materials lists every installed package, and none for development', async () => {
  const { components } = JSON.parse(await readFile(join(out, 'sbom.cdx.json'), 'utf8'));
  const names = components.map(({ name }: { name: string }) => name);
  const { dependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  // Two of what these need.
  const beneath = ['@temporalio/core-bridge', '@grpc/grpc-js'];
  expect(names).toEqual(expect.arrayContaining([...Object.keys(dependencies), ...beneath]));
  expect(names).not.toContain('vitest');
});

it('the release has the documentation', async () => {
  const { stdout } = await promisify(execFile)('tar', ['-tzf', join(out, 'docs.tar.gz')]);
  expect(stdout.split('\n')).toEqual(
    expect.arrayContaining(['./index.html', './guides/quickstart/index.html']),
  );
});

const tree = await folderOfFile('waybill-prepared-');
describe('prepare', () => {
  const prepare = (version: string) =>
    new Promise<{ code: unknown; said: string }>((done) => {
      const args = ['--import', './bin/sources.js', 'release/main.ts', 'prepare', version];
      execFile(process.execPath, args, { cwd: tree }, (error, stdout, stderr) =>
        done({ code: error?.code ?? 0, said: stdout + stderr }),
      );
    });
  const textOf = (path: string) => readFile(join(tree, path), 'utf8');

  // It changes the tree: it gets one of its own.
  beforeAll(async () => {
    const files = [...VERSIONED.map(([path]) => path), 'CHANGELOG.md', 'docs/is-it-for-me.md'];
    const folders = ['bin', 'release', 'src/db/migrations', 'test/replay/histories'];
    for (const path of [...files, ...folders])
      await cp(join(root, path), join(tree, path), { recursive: true });
    await symlink(join(root, 'node_modules'), join(tree, 'node_modules'));
  });

  it('refuses an invalid version, and one that is not that of the changelog', async () => {
    expect(await prepare('next')).toMatchObject({ code: 2, said: expect.stringContaining('Which version?') });
    expect(await prepare('7.0.0')).toMatchObject({ code: 1, said: expect.stringContaining('not 7.0.0') });
  });

  it('dates the changelog, sets the version everywhere and freezes schema and histories, once', async () => {
    await writeFile(
      join(tree, 'CHANGELOG.md'),
      (await textOf('CHANGELOG.md')).replace(/^## \[.*$/m, '## [Unreleased]'),
    );
    expect(await prepare('7.0.0')).toMatchObject({ code: 0 });
    const { version, date } = topSection(await textOf('CHANGELOG.md'));
    expect([version, date]).toEqual(['7.0.0', expect.stringMatching(/^\d{4}-\d\d-\d\d$/)]);
    expect(await textOf('docs/is-it-for-me.md')).toContain(`| status | 7.0.0, released on ${date} (`);
    for (const [path, place] of VERSIONED)
      expect(new Set(versionsIn(await textOf(path), place)), path).toEqual(new Set(['7.0.0']));
    const frozen = JSON.parse(await textOf('release/frozen.json'));
    expect(frozen.release).toBe('7.0.0');
    const names = [
      ...(await readdir(join(tree, 'src/db/migrations'))),
      ...(await readdir(join(tree, 'test/replay/histories'))),
    ];
    expect(Object.keys(frozen.files)).toHaveLength(
      names.filter((name) => /\.(?:sql|json)$/.test(name)).length,
    );
    expect(await prepare('7.0.1')).toMatchObject({
      code: 1,
      said: expect.stringContaining('nothing since 7.0.0'),
    });
  });

  it('refuses a tree whose frozen files have changed', async () => {
    const [first = ''] = Object.keys(JSON.parse(await textOf('release/frozen.json')).files);
    await writeFile(join(tree, first), `${await textOf(first)}\n`);
    const { code, said } = await prepare('7.0.1');
    expect({ code, said }).toEqual({
      code: 1,
      said: `Nothing was changed:\n  ${first} is released and frozen, but was changed.\n`,
    });
  });
});

it('the compose files start the published image, and come with everything that they mount', async () => {
  const folder = await folderOfTest('waybill-unpacked-');
  await promisify(execFile)('tar', ['-xzf', join(out, 'compose.tar.gz'), '-C', folder]);
  const image = `${imageOf(await readOwner())}:${await readVersion()}`;
  const images: string[] = [];
  for (const name of COMPOSE) {
    const text = await readFile(join(folder, name), 'utf8');
    expect(text).not.toMatch(/\bbuild\b/);
    const compose = parse(text, { merge: true });
    const services: { image: string; volumes?: string[] }[] = Object.values(compose.services);
    images.push(...services.map((service) => service.image));
    const beside = services
      .flatMap(({ volumes = [] }) => volumes.map((volume) => volume.split(':')[0] ?? ''))
      .filter((path) => path.startsWith('./'));
    expect(beside.length).toBeGreaterThan(0);
    expect(beside.filter((path) => !existsSync(join(folder, path)))).toEqual([]);
  }
  expect(images.filter((each) => each.includes('waybill:'))).toEqual(Array(3).fill(image));
});

it('the release has the notes of the version, and checksums of everything', async () => {
  const [first = ''] = (await readTopSection()).text.split('\n');
  const notes = await readFile(join(out, 'notes.md'), 'utf8');
  expect(notes).toContain(first);
  // Read on the page of the release, where the paths of this repository lead nowhere.
  const links = [...notes.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link);
  const { repository } = await readOwner();
  const base = `${repository}/blob/v${await readVersion()}/`;
  const ours = links.filter((link) => link.startsWith(base)).map((link) => link.slice(base.length));
  expect(ours.length).toBeGreaterThan(0);
  expect(ours.filter((path) => !existsSync(join(root, path.replace(/#.*/, ''))))).toEqual([]);
  expect(links.filter((link) => !/^https?:/.test(link))).toEqual([]);
  const sums = (await readFile(join(out, 'SHA256SUMS'), 'utf8')).trim().split('\n');
  expect(sums).toHaveLength((await readdir(out)).length - 1);
  for (const line of sums) {
    const [hash, name = ''] = line.split('  ');
    const bytes = await readFile(join(out, name));
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(hash);
  }
});
