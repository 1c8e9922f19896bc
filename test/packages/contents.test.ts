/** What `npm pack` packs: the program and its patched libraries, and nothing that only a checkout needs. */
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import * as v from 'valibot';
import { beforeAll, expect, it } from 'vitest';
import { folderOfTest } from '../support/ends.ts';
import { filesOf, importsOf } from '../support/repository/imports.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const versions = v.record(v.string(), v.string());
const manifestSchema = v.object({
  scripts: v.optional(versions, {}),
  dependencies: v.optional(versions, {}),
  optionalDependencies: v.optional(versions, {}),
  devDependencies: v.optional(versions, {}),
  bundleDependencies: v.optional(v.array(v.string()), []),
});
const manifestOf = (folder: string) =>
  v.parse(manifestSchema, JSON.parse(read(join(folder, 'package.json'))));
const manifest = manifestOf('.');

/** More would be noticed at an installation. */
const MAX_BYTES = 4_000_000;
const packedSchema = v.tuple([
  v.object({ size: v.number(), files: v.array(v.object({ path: v.string() })) }),
]);
let size = 0;
let files: string[] = [];
beforeAll(async () => {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: root, maxBuffer: 16 * 1024 * 1024 });
  const [packed] = v.parse(packedSchema, JSON.parse(stdout));
  size = packed.size;
  files = packed.files.map(({ path }) => path);
});

it('the package holds the build, what starts it and the patched libraries, and nothing else', () => {
  const beside = files.filter((path) => !/^(?:dist|node_modules)\//.test(path));
  expect(beside.sort()).toEqual([
    'LICENSE',
    'README.md',
    'bin/built.js',
    'bin/main.js',
    'bin/patched.js',
    'bin/platform.js',
    'bin/refuse.js',
    'bin/waybill.js',
    'package.json',
  ]);
  const built = files.filter((path) => path.startsWith('dist/'));
  expect(built).toEqual(
    expect.arrayContaining(['dist/src/main.js', 'dist/src/cli/main.js', 'dist/workflow-bundle.js']),
  );
  expect(
    built.filter((path) => /\.tsx?$|(?:^|[/])tests?[/]|\.test\.|build-workflow-bundle/.test(path)),
  ).toEqual([]);
  const libraries = files
    .filter((path) => path.startsWith('node_modules/'))
    .map((path) => path.split('/')[1]);
  expect([...new Set(libraries)].sort()).toEqual(manifest.bundleDependencies);
  expect(size).toBeLessThan(MAX_BYTES);
});

it('the package holds every file that is checked for our patches', () => {
  const named = [...read('bin/patched.js').matchAll(/^ {2}(\w+): \{(.*)\},$/gm)].flatMap(
    ([, name, list = '']) =>
      [...list.matchAll(/'([\w./-]+)': /g)].map(([, path]) => `node_modules/${name}/${path}`),
  );
  expect(named.length).toBeGreaterThan(2);
  expect(named.filter((path) => !files.includes(path))).toEqual([]);
});

it('a bundled library depends on nothing, since npm would not install that', () => {
  const beneath = manifest.bundleDependencies.flatMap((name) =>
    Object.keys(manifestOf(join('node_modules', name)).dependencies),
  );
  expect(beneath).toEqual([]);
});

it('the package has no script that npm runs at an installation', () => {
  const atInstallation = ['preinstall', 'install', 'postinstall'];
  expect(atInstallation.filter((name) => name in manifest.scripts)).toEqual([]);
});

it('a checkout without development packages explains in one sentence how to get them', async () => {
  const folder = await folderOfTest('waybill-omitted-');
  const ended = spawnSync('sh', ['-c', manifest.scripts.prepare ?? ''], { cwd: folder, encoding: 'utf8' });
  expect(ended.status).toBe(1);
  expect(ended.stderr).toMatch(/^A checkout is .+: run npm ci, and .+ npm prune --omit=dev\.\n$/);
});

it('every version of a dependency is exact', () => {
  const { dependencies, optionalDependencies, devDependencies } = manifest;
  const all = Object.entries({ ...dependencies, ...optionalDependencies, ...devDependencies });
  expect(all.filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))).toEqual([]);
});

it('the dependencies are exactly what the program loads', () => {
  const folders = ['src', 'workflows', 'activities', 'demo', 'receiver/src'];
  const imported = folders
    .flatMap((folder) => filesOf(root, folder))
    .flatMap((file) => importsOf(root, file))
    .filter(
      ({ to, typeOnly }) =>
        !typeOnly && /^(?:@[\w-]+\/)?[\w.-]+(?:\/|$)/.test(to) && !/\.(?:tsx?|json)$/.test(to),
    )
    .map(({ to }) => (/^@[^/]+\/[^/]+|^[^/]+/.exec(to) ?? [''])[0]);
  // Loaded by name: scripts of the console, the highlighter, and what hono-openapi asks for.
  const byName = [
    'htmx.org',
    'highlight.js',
    '@standard-community/standard-json',
    '@standard-community/standard-openapi',
  ];
  const wanted = new Set([...imported, ...byName.filter((name) => name in manifest.dependencies)]);
  expect(Object.keys(manifest.dependencies).sort()).toEqual([...wanted].sort());
});
