/** The kit as an e-shop installs it: built, without this repository around it. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { filesOf, importsOf } from '../support/imports.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const tsc = join(root, 'node_modules/typescript/bin/tsc');
let project = '';

/** @throws Error with its output when it fails */
async function run(...args: string[]): Promise<string> {
  try {
    return (await promisify(execFile)(process.execPath, args, { cwd: project })).stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = Object(error);
    throw new Error(`${args.join(' ')} failed:\n${stdout}${stderr}`);
  }
}

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'waybill-receiver-'));
  const installed = join(project, 'node_modules/waybill-receiver');
  await mkdir(installed, { recursive: true });
  await run(tsc, '-p', join(root, 'receiver/tsconfig.json'), '--outDir', join(installed, 'dist'));
  await cp(join(root, 'receiver/package.json'), join(installed, 'package.json'));
  await cp(join(root, 'receiver/vectors'), join(installed, 'vectors'), { recursive: true });
});
afterAll(() => rm(project, { recursive: true, force: true }));

it('it depends on nothing: neither on packages nor on the server', async () => {
  const found = filesOf(root, 'receiver/src').flatMap((file) => importsOf(root, file));
  const elsewhere = found.filter(({ to }) => !to.startsWith('receiver/src/'));
  expect(elsewhere.map(({ from, to }) => [from, to])).toEqual([
    ['receiver/src/node.ts', 'node:http'],
    ['receiver/src/node.ts', 'node:stream'],
  ]);
  const manifest: object = JSON.parse(await readFile(join(root, 'receiver/package.json'), 'utf8'));
  expect(Object.keys(manifest).filter((key) => /dependencies/i.test(key))).toEqual([]);
});

it('a project of its own runs it', async () => {
  await writeFile(
    join(project, 'shop.mjs'),
    `import { memoryStore, receiver } from 'waybill-receiver';
     import { nodeListener } from 'waybill-receiver/node';
     import { fakeDelivery, testSecret } from 'waybill-receiver/testing';
     import { readFileSync } from 'node:fs';
     const vectors = JSON.parse(readFileSync(new URL(import.meta.resolve('waybill-receiver/vectors/signed.json'))));
     const seen = [];
     const hooks = receiver({ secrets: testSecret, store: memoryStore() })
       .on('CREATE_PRODUCT', (product) => seen.push(product.sku));
     const { status } = await hooks(await fakeDelivery('CREATE_PRODUCT', { payload: { sku: 'TEA' } }));
     console.log(JSON.stringify([status, seen, typeof nodeListener(hooks), vectors.length]));`,
  );
  expect(JSON.parse(await run('shop.mjs'))).toEqual([200, ['TEA'], 'function', 18]);
});

it('a project without the types of Node compiles with it, and a wrong one does not', async () => {
  const options = ['--strict', '--noEmit', '--module', 'NodeNext', '--target', 'ES2022', '--types', ''];
  const compile = async (source: string) => {
    await writeFile(join(project, 'shop.mts'), source);
    return await run(tsc, ...options, '--lib', 'ES2022,DOM,DOM.Iterable', 'shop.mts');
  };
  const shop = (field: string) => `
    import { memoryStore, receiver } from 'waybill-receiver';
    const hooks = receiver({ secrets: 'whsec_', store: memoryStore(), payloadVersion: 'v21' })
      .on('CREATE_ORDER', (order) => { const total: number | undefined = order.${field}?.quantity; return total; });
    export default { fetch: hooks.fetch };`;
  await compile(shop('orderProducts[0]'));
  await expect(compile(shop('orderLines[0]'))).rejects.toThrow('orderLines');
});
