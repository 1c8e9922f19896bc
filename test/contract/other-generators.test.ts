/** Other generators' clients (Python, Go, TypeScript) do the main job. Needs Python 3.10, Go and package indexes. */
import { cp, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { listen } from '../../src/http/http-server.ts';
import { folderOfFile } from '../support/ends.ts';
import { apiOfFile } from '../support/lifetimes.ts';
import { runProgram } from '../support/programs/run-program.ts';

const PYTHON = 'openapi-python-client==0.29.1';
const GO = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';
const HEY_API = '@hey-api/openapi-ts@0.99.0';

const clients = fileURLToPath(new URL('./clients/', import.meta.url));
const modules = fileURLToPath(new URL('../../node_modules', import.meta.url));

const api = await apiOfFile();
const server = await listen(api.app, '127.0.0.1', 0);
const folder = await folderOfFile('waybill-clients-');
const document = await (await fetch(`${server.url}/openapi.json`)).text();
await writeFile(join(folder, 'openapi.json'), document);
await cp(clients, folder, { recursive: true });
afterAll(() => server.close());

const run = (program: string, args: readonly string[], cwd = folder) =>
  runProgram(program, args, { cwd, env: { ...process.env, GOFLAGS: '-mod=mod' } });

/** The arguments of a client, for a new e-shop. */
async function credentials(): Promise<string[]> {
  const { apiKey, shop } = await api.newEshop();
  return [server.url, apiKey, shop.username, shop.password];
}

const seen = {
  secret: 'whsec_',
  price: 349.9,
  // A client that sent defaults for omitted fields would have changed it.
  orderType: 'b2b',
  note: 'Ring twice.',
  asText: '1.5',
  deliveries: 1,
  refused: 'Order none does not exist.',
};

test('a client by openapi-python-client does the main job', async () => {
  await run('python3', ['-m', 'venv', 'python']);
  const python = (program: string) => join(folder, 'python', 'bin', program);
  await run(python('pip'), ['install', '--quiet', PYTHON]);
  const output = ['--path', 'openapi.json', '--output-path', 'waybill', '--meta', 'none'];
  await run(python('openapi-python-client'), ['generate', ...output]);
  await run(python('python'), ['-m', 'compileall', '-q', 'waybill']);
  expect(JSON.parse(await run(python('python'), ['client.py', ...(await credentials())]))).toEqual(seen);
});

test('a client by oapi-codegen does the main job', async () => {
  await run('go', ['mod', 'init', 'consumer']);
  const output = ['-generate', 'types,client', '-package', 'main', '-o', 'waybill.go'];
  await run('go', ['run', GO, ...output, 'openapi.json']);
  await run('go', ['mod', 'tidy']);
  await run('go', ['vet', '.']);
  expect(JSON.parse(await run('go', ['run', '.', ...(await credentials())]))).toEqual(seen);
});

test('a client by hey-api does the main job', async () => {
  const here = join(folder, 'hey-api');
  await run('npm', ['install', '--no-save', '--no-audit', '--no-fund', HEY_API, `typescript@5.9.3`], here);
  await run('npx', ['--no-install', 'openapi-ts', '-i', '../openapi.json', '-o', 'waybill'], here);
  await symlink(modules, join(folder, 'node_modules'));
  await run('npx', ['--no-install', 'tsc', '-p', '.'], here);
  expect(
    JSON.parse(await run(process.execPath, ['--import', 'tsx', 'client.ts', ...(await credentials())], here)),
  ).toEqual(seen);
});
