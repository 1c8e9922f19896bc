/** Types generated from `/openapi.json` compile with an e-shop's script, and the script runs. */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { listen } from '../../src/http/http-server.ts';
import { apiOfFile } from '../support/lifetimes.ts';
import { runProgram } from '../support/programs/run-program.ts';

const consumer = fileURLToPath(new URL('./consumer/', import.meta.url));

const api = await apiOfFile();
const server = await listen(api.app, '127.0.0.1', 0);
afterAll(() => server.close());

const run = (program: string, ...args: string[]) => runProgram(program, args, { cwd: consumer });

test('an e-shop generates its types, compiles its script with them, and runs it', async () => {
  const document = await (await fetch(`${server.url}/openapi.json`)).text();
  await writeFile(`${consumer}openapi.generated.json`, document);
  await run(
    'npx',
    '--no-install',
    'openapi-typescript',
    'openapi.generated.json',
    '-o',
    'api.generated.ts',
    '--default-non-nullable',
    'false',
  );
  await run('npx', '--no-install', 'tsc', '-p', '.');
  const { apiKey, shop } = api.eshop;
  const args = [server.url, apiKey, shop.username, shop.password];
  const seen = JSON.parse(await run(process.execPath, '--import', 'tsx', 'client.ts', ...args));
  expect(seen).toEqual({
    secret: expect.stringMatching(/^whsec_/),
    quantity: 1.5,
    asText: '1.5',
    total: 1,
    refused: 'Order none does not exist.',
    handled: 'order 10/1 ž is preReceived',
    handledV2: 'order 10/1 ž is preReceived',
  });
});
