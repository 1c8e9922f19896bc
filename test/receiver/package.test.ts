/** The kit as an e-shop installs it: built, and outside this repository. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { testSecret } from '../../receiver/src/testing.ts';
import { folderOfFile } from '../support/ends.ts';
import { runProgram } from '../support/programs/run-program.ts';
import { filesOf, importsOf } from '../support/repository/imports.ts';
import { nightly } from '../support/runner/nightly.ts';
import { freePort } from '../support/servers/ports.ts';
import { until } from '../support/until.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const tsc = join(root, 'node_modules/typescript/bin/tsc');

const runAs = (program: string, ...args: string[]) =>
  runProgram(program, args, { cwd: project, env: { ...process.env, WEBHOOK_SECRET: testSecret } });
const run = (...args: string[]) => runAs(process.execPath, ...args);
const npm = (...args: string[]) =>
  runAs('npm', ...args, '--no-audit', '--no-fund', '--offline', '--loglevel=error');

const project = await folderOfFile('waybill-receiver-');
const packed = await npm('pack', join(root, 'receiver'), '--pack-destination', project);
await writeFile(join(project, 'package.json'), '{ "name": "shop", "private": true }');
await npm('install', `./${packed.trim().split('\n').at(-1)}`);

it('the kit depends on no package, and on nothing of the server', async () => {
  const found = filesOf(root, 'receiver/src').flatMap((file) => importsOf(root, file));
  const elsewhere = found.filter(({ to }) => !to.startsWith('receiver/src/'));
  expect(elsewhere.map(({ from, to }) => [from, to])).toEqual([
    ['receiver/src/arguments.ts', 'node:util'],
    ['receiver/src/cli.ts', 'node:fs/promises'],
    ['receiver/src/cli.ts', 'node:path'],
    ['receiver/src/node.ts', 'node:http'],
    ['receiver/src/node.ts', 'node:stream'],
    ['receiver/src/send.ts', 'node:http'],
    ['receiver/src/send.ts', 'node:https'],
    ['receiver/src/send.ts', 'node:tls'],
    ['receiver/src/listen/listen.ts', 'node:timers/promises'],
  ]);
  const manifest: object = JSON.parse(await readFile(join(root, 'receiver/package.json'), 'utf8'));
  expect(Object.keys(manifest).filter((key) => /dependencies/i.test(key))).toEqual([]);
});

it('a project of its own can run the kit', async () => {
  await writeFile(
    join(project, 'shop.mjs'),
    `import { memoryStore, receiver } from '@waybill-hq/receiver';
     import { nodeListener } from '@waybill-hq/receiver/node';
     import { fakeDelivery, testSecret } from '@waybill-hq/receiver/testing';
     import { readFileSync } from 'node:fs';
     const vectors = JSON.parse(readFileSync(new URL(import.meta.resolve('@waybill-hq/receiver/vectors/signed.json'))));
     const seen = [];
     const hooks = receiver({ secrets: testSecret, store: memoryStore() })
       .on('CREATE_PRODUCT', (product) => seen.push(product.sku));
     const { status } = await hooks(await fakeDelivery('CREATE_PRODUCT', { payload: { sku: 'TEA' } }));
     console.log(JSON.stringify([status, seen, typeof nodeListener(hooks), vectors.length > 0]));`,
  );
  expect(JSON.parse(await run('shop.mjs'))).toEqual([200, ['TEA'], 'function', true]);
});

it('a CommonJS project can run the kit', async () => {
  await writeFile(
    join(project, 'shop.cjs'),
    `const { memoryStore, receiver } = require('@waybill-hq/receiver');
     const { fakeDelivery, testSecret } = require('@waybill-hq/receiver/testing');
     const vectors = require('@waybill-hq/receiver/vectors/refused.json');
     const seen = [];
     const hooks = receiver({ secrets: testSecret, store: memoryStore() }).on('CREATE_ORDER', () => seen.push(1));
     fakeDelivery('CREATE_ORDER').then(hooks).then(({ status }) =>
       console.log(JSON.stringify([status, seen, typeof require('@waybill-hq/receiver/node').nodeListener, vectors.length > 0])));`,
  );
  expect(JSON.parse(await run('shop.cjs'))).toEqual([200, [1], 'function', true]);
});

it('the archive holds what is needed, and no sources', async () => {
  const archive = join(project, 'node_modules/@waybill-hq/receiver');
  const files = await readdir(archive);
  expect(files.sort()).toEqual([
    'LICENSE',
    'README.md',
    'dist',
    'examples',
    'package.json',
    'recipes',
    'vectors',
  ]);
  const entries = await readdir(join(archive, 'dist'), { recursive: true, withFileTypes: true });
  const built = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  expect(built).toContain('cli.js');
  expect(built.filter((name) => !/\.(?:d\.ts|js)$/.test(name) || name.includes('.test.'))).toEqual([]);
});

it('the command prints the vectors, or writes them into a folder', async () => {
  const command = join(project, 'node_modules/.bin/waybill-receiver');
  const printed: object = JSON.parse(await runAs(command, 'vectors'));
  await runAs(command, 'vectors', 'shop/vectors');
  const written = async (name: string) =>
    JSON.parse(await readFile(join(project, `shop/vectors/${name}.json`), 'utf8'));
  expect(printed).toEqual({
    signed: await written('signed'),
    refused: await written('refused'),
    setup: await written('setup'),
    asymmetric: await written('asymmetric'),
    'asymmetric-setup': await written('asymmetric-setup'),
  });
  const cut = '"$0" vectors 2> errors | head -c 9; cat errors';
  expect(await runAs('sh', '-c', cut, command)).toBe('{"signed"');
  await expect(runAs(command, 'examine')).rejects.toThrow('Give the URL of the receiver');
  await expect(runAs(command, 'listen')).rejects.toThrow('Give the URL of the API');
  await expect(runAs(command, 'examine', 'http://127.0.0.1:1/', '--secret', 'short')).rejects.toThrow(
    'neither begins with whsec_',
  );
});

/** A receiver made with a recipe, and how to spoil it: a part of its source, and the replacement. */
interface Tried {
  readonly language: string;
  readonly file: string;
  readonly good: string;
  readonly bad: string;
  /** The examination's findings after that. */
  readonly finds: Readonly<Record<string, string>>;
  readonly start: (folder: string) => readonly [string, ...string[]];
  /** It takes long: only in the nightly run. */
  readonly compiled?: true;
}
const tried: readonly Tried[] = [
  {
    language: 'python',
    file: 'waybill.py',
    good: 'tolerance=300',
    bad: 'tolerance=10**9',
    finds: { 'old timestamp': 'fail' },
    start: (folder) => ['python3', '-B', `${folder}/server.py`],
  },
  {
    language: 'php',
    file: 'server.php',
    good: '$problem !== null',
    bad: 'false',
    finds: {
      'wrong signature': 'fail',
      'no signature': 'fail',
      'signature of another body': 'fail',
      'old timestamp': 'fail',
      'only v1 matches': 'warning',
    },
    start: (folder) => ['php', `${folder}/server.php`],
  },
  {
    language: 'go',
    file: 'waybill.go',
    good: 'range fields[version] {',
    bad: 'range fields[version][:1] {',
    finds: { 'two signatures': 'fail' },
    start: (folder) => ['go', '-C', folder, 'run', './server'],
    compiled: true,
  },
];

it.for(tried.filter(({ compiled }) => nightly || compiled === undefined))(
  'the command finds no fault in a good receiver in $language, and finds that of a bad one',
  async ({ language, file, good, bad, finds, start }, { skip }) => {
    const [program] = start('');
    const version = program === 'go' ? 'version' : '--version';
    if ((await promisify(execFile)(program, [version]).catch(() => null)) === null)
      return skip(`${program} is not present on this machine.`);
    const folder = join(project, language);
    await cp(join(project, 'node_modules/@waybill-hq/receiver/recipes', language), folder, {
      recursive: true,
    });
    expect(await examined(start, folder)).toEqual([0, {}]);
    const source = await readFile(join(folder, file), 'utf8');
    expect(source).toContain(good);
    await writeFile(join(folder, file), source.replace(good, bad));
    expect(await examined(start, folder)).toEqual([2, finds]);
  },
);

/** Starts a receiver and examines it; answers the exit code and the rows that are not ok. */
async function examined(start: Tried['start'], folder: string) {
  const port = await freePort();
  const [program, ...args] = start(folder);
  const env = { ...process.env, WEBHOOK_SECRET: testSecret, PORT: String(port) };
  // A process group: `go run` and PHP start the receiver as their child.
  const child = spawn(program, args, { cwd: project, env, stdio: 'ignore', detached: true });
  const exited = once(child, 'exit');
  try {
    const url = `http://127.0.0.1:${port}/hooks?shop=1`;
    await until('the receiver to listen', () => fetch(url, { method: 'POST' }).catch(() => undefined));
    const command = ['node_modules/@waybill-hq/receiver/dist/cli.js', 'examine', url, '--json'];
    const examination = spawn(process.execPath, command, {
      cwd: project,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [output, [code]] = await Promise.all([text(examination.stdout), once(examination, 'exit')]);
    const { rows }: { rows: { name: string; verdict: string }[] } = JSON.parse(output);
    const faults = rows.filter(({ verdict }) => verdict !== 'ok');
    return [code, Object.fromEntries(faults.map(({ name, verdict }) => [name, verdict]))];
  } finally {
    if (child.pid !== undefined) process.kill(-child.pid);
    await exited;
  }
}

it('a project without the types of Node compiles with the kit, and a wrong one does not', async () => {
  const options = ['--strict', '--noEmit', '--module', 'NodeNext', '--target', 'ES2022', '--types', ''];
  const compile = async (source: string) => {
    await writeFile(join(project, 'shop.mts'), source);
    return await run(tsc, ...options, '--lib', 'ES2022,DOM,DOM.Iterable', 'shop.mts');
  };
  const shop = (field: string) => `
    import { memoryStore, receiver } from '@waybill-hq/receiver';
    const hooks = receiver({ secrets: 'whsec_', store: memoryStore(), payloadVersion: 'v21' })
      .on('CREATE_ORDER', (order) => { const total: number | undefined = order.${field}?.quantity; return total; });
    export default { fetch: hooks.fetch };`;
  await compile(shop('orderProducts[0]'));
  await expect(compile(shop('orderLines[0]'))).rejects.toThrow('orderLines');
});
