/** `npm start` and `waybill` run the build, and say in one sentence what keeps them from it. */
import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { folderOfTest } from '../support/ends.ts';

const root = resolve(import.meta.dirname, '../..');

const command = { file: 'bin/waybill.js', runs: 'dist/src/cli/main.js' };
const server = { file: 'bin/main.js', runs: 'dist/src/main.js' };
/** Written by a build when it begins. */
const stamp = 'dist/build-began';
/** A build of the 200th second. */
const build = { [command.runs]: 201, [server.runs]: 201, [stamp]: 200 };
const notBuilt = 'Nothing is built yet: run npm run build.\n';
const newer = 'The sources are newer than the build in dist: run npm run build.\n';

/** What the patched packages look like when they are installed. */
type State = 'patched' | 'bare' | 'missing';

/** The files that the program compares, with an entry by which it finds each package. */
const patched = [
  ['postgres', ['src/index.js', 'src/connection.js']],
  ['undici', ['index.js', 'lib/dispatcher/client-h1.js']],
] as const;

async function installed(folder: string, state: State): Promise<void> {
  for (const [name, files] of patched) {
    if (state === 'missing' && name === 'undici') continue;
    const place = join(folder, 'node_modules', name);
    for (const file of files) await cp(join(root, 'node_modules', name, file), join(place, file));
    await writeFile(join(place, 'package.json'), JSON.stringify({ name, main: files[0] }));
    // As npm's registry has it: other bytes than this build's.
    if (state === 'bare' && name === 'postgres') await writeFile(join(place, 'src/connection.js'), '');
  }
}

/** What a program prints if these files, which print their names, are of these times in seconds. */
async function run(
  program: string,
  files: Readonly<Record<string, number>>,
  state: State = 'patched',
): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const folder = await folderOfTest('waybill-bin-');
  await cp(join(root, 'bin'), join(folder, 'bin'), { recursive: true });
  await installed(folder, state);
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await utimes(join(folder, 'package.json'), 1, 1);
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
  const env = { ...process.env, TMPDIR: temporary };
  const ended = await new Promise<{ code: unknown; stdout: string; stderr: string }>((done) => {
    const [file = '', ...args] = program.split(' ');
    execFile(process.execPath, [join(folder, file), ...args], { env }, (error, stdout, stderr) =>
      done({ code: error?.code ?? 0, stdout, stderr }),
    );
  });
  // Nothing runs from the temporary folder, where another user of the machine could plant code.
  expect(await readdir(temporary)).toEqual([]);
  return ended;
}

it.each([command, server])('$file: runs the build in an image, without sources', async ({ file, runs }) => {
  expect(await run(file, build)).toEqual({ code: 0, stdout: `${runs}\n`, stderr: '' });
});

it.each([command, server])(
  '$file: runs a build newer than all sources without output',
  async ({ file, runs }) => {
    const files = { 'src/cli/main.ts': 100, 'src/main.ts': 100, ...build };
    expect(await run(file, files)).toEqual({ code: 0, stdout: `${runs}\n`, stderr: '' });
  },
);

it('waybill start runs the server and loads no other command', async () => {
  const ran = await run('bin/waybill.js start', build);
  expect(ran).toEqual({ code: 0, stdout: `${server.runs}\n`, stderr: '' });
});

it.each([command, server])('$file: refuses to run sources that are not built', async ({ file }) => {
  const files = { 'src/main.ts': 100, 'src/cli/main.ts': 100 };
  expect(await run(file, files)).toEqual({ code: 1, stdout: '', stderr: notBuilt });
});

it.each([command, server])('$file: warns of sources newer than the build', async ({ file, runs }) => {
  const before = { 'src/main.ts': 100, ...build };
  const said = { code: 0, stdout: `${runs}\n`, stderr: newer };
  expect(await run(file, { ...before, 'workflows/index.ts': 300 })).toEqual(said);
  expect(await run(file, { ...before, 'receiver/src/index.ts': 300 })).toEqual(said);
  // Written while the build was under way.
  expect(await run(file, { ...before, 'src/main.ts': 200.5 })).toEqual(said);
});

it.each([command, server])('$file: names a package without its patch, and what to run', async ({ file }) => {
  const refused = (stderr: string) => ({ code: 1, stdout: '', stderr });
  const checkout = { 'src/main.ts': 100, ...build };
  expect(await run(file, checkout, 'bare')).toEqual(
    refused(
      'The package postgres lacks its patch: run npm ci, and npx --no patch-package if that ran no scripts.\n',
    ),
  );
  expect(await run(file, checkout, 'missing')).toEqual(
    refused('The package undici is not installed: run npm ci.\n'),
  );
  expect(await run(file, build, 'bare')).toEqual(
    refused('The package postgres lacks its patch: install Waybill again, with npm.\n'),
  );
  expect(await run(file, build, 'missing')).toEqual(
    refused('The package undici is not installed: install Waybill again, with npm.\n'),
  );
});

it('every script of package.json loads the sources the same way', async () => {
  const text = await readFile(join(root, 'package.json'), 'utf8');
  expect(text.match(/--import \S+ \S+\.ts/g)?.length).toBeGreaterThan(3);
  expect(text).not.toMatch(/--import (?!\.\/bin\/(?:sources|dev)\.js )/);
  expect(await readFile(join(root, 'bin/dev.js'), 'utf8')).toContain("import('./sources.js')");
});

it('the server is started as main.ts or main.js, by which DATA_DIR’s lock recognizes a Waybill', async () => {
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const dockerfile = await readFile(join(root, 'Dockerfile'), 'utf8');
  // As in `src/embedded/data-dir.ts`.
  for (const started of [scripts.start, scripts.dev, dockerfile.slice(dockerfile.indexOf('CMD'))])
    expect(started).toMatch(/\bmain\.(?:ts|js)\b/);
});
