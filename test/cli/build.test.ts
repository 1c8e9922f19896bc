/**
 * `bin/build.js`, in a small checkout with a compiler of its own: when it builds, and how a build
 * takes the place of another.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { folderOfTest } from '../support/ends.ts';
import { until } from '../support/until.ts';

const root = resolve(import.meta.dirname, '../..');
let folder: string;

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), text);
}
const read = (path: string) => readFile(join(folder, path), 'utf8');
const builds = async () => (await readdir(folder)).filter((name) => name.startsWith('dist'));

/**
 * Compiles a source into two modules, the second of which is loaded late. If it is told to wait, it
 * does so between the two. A source with the text "broken" cannot be compiled.
 */
const COMPILER = `
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
const out = process.argv[process.argv.indexOf('--outDir') + 1];
const text = readFileSync('src/text.ts', 'utf8');
if (text === 'broken') process.exit(2);
mkdirSync(out + '/src/temporal', { recursive: true });
const late = "process.stdin.once('data', () => import('./late.js').then(() => process.exit()))";
writeFileSync(out + '/src/main.js', 'console.log("early " + ' + JSON.stringify(text) + '); ' + late);
const { WAIT = '' } = process.env;
if (WAIT !== '') writeFileSync(WAIT + '-begun', '');
while (WAIT !== '' && !existsSync(WAIT)) await new Promise((done) => setTimeout(done, 10));
writeFileSync(out + '/src/late.js', 'console.log("late " + ' + JSON.stringify(text) + ')');
const bundle = "import { writeFileSync } from 'node:fs'; writeFileSync('workflow-bundle.js', " + JSON.stringify(text) + ')';
writeFileSync(out + '/src/temporal/build-workflow-bundle.js', bundle);
mkdirSync(out + '/site', { recursive: true });
const site = "import { cpSync } from 'node:fs'; cpSync('docs', process.argv[2], { recursive: true })";
writeFileSync(out + '/site/main.js', site);
`;

beforeEach(async () => {
  folder = await folderOfTest('waybill-build-');
  await cp(join(root, 'bin'), join(folder, 'bin'), { recursive: true });
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  // The patches are not its business.
  const prepare = scripts.prepare.replace(/^.*patch-package --error-on-fail && /, '');
  await write('package.json', JSON.stringify({ type: 'module', scripts: { prepare } }));
  await write('src/text.ts', 'one');
  await write('src/migrations/1.sql', 'select 1');
  await write('docs/guides/first.md', '# First');
  await write('site/assets/docs.css', '');
  await write('receiver/generate/generate.ts', '');
  await write('node_modules/typescript/package.json', '{"type":"module"}');
  await write('node_modules/typescript/bin/tsc', COMPILER);
  await symlink(join(root, 'node_modules/tsx'), join(folder, 'node_modules/tsx'));
});

async function ended(child: ChildProcess): Promise<{ code: number | null; output: string }> {
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (text: Buffer) => {
      output += text;
    });
  }
  const [code] = await once(child, 'close');
  return { code, output };
}

/** @param wait the file for which it waits in the middle */
function build(wait = '', args: readonly string[] = []) {
  const env = { ...process.env, WAIT: wait };
  return ended(spawn(process.execPath, ['bin/build.js', ...args], { cwd: folder, env }));
}

/** `npm ci` runs this. */
const prepare = () =>
  new Promise<{ code: unknown; output: string }>((done) => {
    execFile('npm', ['run', '--silent', 'prepare'], { cwd: folder }, (error, stdout, stderr) =>
      done({ code: error?.code ?? 0, output: stdout + stderr }),
    );
  });

it('npm ci builds nothing without sources, without a compiler, or with package.json alone', async () => {
  const nothing = { code: 0, output: '' };
  await rm(join(folder, 'node_modules/typescript'), { recursive: true });
  expect(await prepare()).toEqual(nothing);
  await rm(join(folder, 'src'), { recursive: true });
  expect(await prepare()).toEqual(nothing);
  await rm(join(folder, 'bin'), { recursive: true });
  expect(await prepare()).toEqual(nothing);
  expect(await builds()).toEqual([]);
});

it('npm ci builds only after changes; npm run build always builds everything', async () => {
  expect(await prepare()).toEqual({ code: 0, output: '' });
  expect(await builds()).toEqual(['dist']);
  expect(await read('dist/src/migrations/1.sql')).toBe('select 1');
  expect(await read('dist/docs/guides/first.md')).toBe('# First');
  for (const path of ['src/text.ts', 'site/main.js'])
    await expect(read(`dist/${path}`)).rejects.toThrow('ENOENT');

  await write('dist/kept', '');
  expect((await prepare()).code).toBe(0);
  expect(await read('dist/kept')).toBe('');
  expect((await build()).code).toBe(0);
  await expect(read('dist/kept')).rejects.toThrow('ENOENT');

  await write('src/text.ts', 'two');
  expect((await prepare()).code).toBe(0);
  expect(await read('dist/workflow-bundle.js')).toBe('two');
});

it('a program running from dist keeps its files until another build replaces them in one step', async () => {
  await build();
  const program = spawn(process.execPath, ['dist/src/main.js'], { cwd: folder });
  const output = ended(program);
  await once(program.stdout, 'data');
  await write('src/text.ts', 'two');
  const wait = join(folder, 'go');
  const second = build(wait);
  await until('half a build', async () => (await readdir(folder)).includes('go-begun'));
  expect(await read('dist/src/late.js')).toContain('one');
  expect(await read('dist/workflow-bundle.js')).toBe('one');
  await write('go', '');
  expect(await second).toEqual({ code: 0, output: '' });
  expect(await builds()).toEqual(['dist']);
  program.stdin.write('go on\n');
  expect((await output).output).toBe('early one\nlate two\n');
});

it('a failed or interrupted build keeps the previous one and leaves no other files', async () => {
  await build();
  await write('src/text.ts', 'broken');
  const failed = await build();
  expect(failed.code).toBe(1);
  expect(failed.output).toMatch(/^The build failed: \S+ ended with 2\.\n$/);
  await write('src/text.ts', 'two');
  const env = { ...process.env, WAIT: join(folder, 'never') };
  const child = spawn(process.execPath, ['bin/build.js'], { cwd: folder, env });
  const interrupted = ended(child);
  await until('half a build', async () => (await readdir(folder)).includes('never-begun'));
  child.kill('SIGTERM');
  expect((await interrupted).code).toBe(1);
  expect(await builds()).toEqual(['dist']);
  expect(await read('dist/workflow-bundle.js')).toBe('one');
});
