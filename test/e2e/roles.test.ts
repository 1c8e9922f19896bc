/** The roles as processes of their own, on a database and a Temporal server that somebody else runs. */
import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { login } from '../support/client.ts';
import { createInstallation, type Installation } from '../support/installation.ts';
import { freePort } from '../support/ports.ts';
import { type Program, startProgram } from '../support/program.ts';
import { createReceiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';

let installation: Installation;
const programs: Program[] = [];

async function start(env: Record<string, string>): Promise<Program> {
  const program = await startProgram({ ...installation.env, ...env });
  programs.push(program);
  return program;
}

beforeAll(async () => {
  installation = await createInstallation();
});
afterAll(async () => {
  for (const program of programs) await program.kill().catch(() => {});
  await installation.remove();
});

it('an API and a worker share the work, and neither starts a server of its own', async () => {
  const [api, worker] = await Promise.all([start({ ROLE: 'api' }), start({ ROLE: 'worker' })]);
  expect(worker.url).toBe('');
  expect(api.output()).not.toContain('Starting');
  expect(worker.output()).not.toContain('Starting');
  // No demonstration e-shop where something is configured.
  expect(api.output()).not.toContain('x-api-key');

  const receiver = await createReceiver({ status: 200 });
  try {
    const client = await login(api.url, installation.credentials);
    await client.request('POST', '/webhooks', {
      url: receiver.url,
      webhookType: 'CREATE_ORDER',
      active: true,
      method: 'POST',
    });
    expect((await client.createOrder('split')).statusCode).toBe(200);
    await until('the delivery', async () => receiver.requests.length > 0);
  } finally {
    await receiver.close();
  }
  expect(await Promise.all([api.stop(), worker.stop()])).toEqual([0, 0]);
  expect(await readdir(installation.env.DATA_DIR)).not.toContain('postgres');
});

it('the API serves while Temporal cannot be reached', async () => {
  const api = await start({ ROLE: 'api', TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}` });
  expect((await fetch(`${api.url}/readyz`)).status).toBe(200);
  await api.stop();
});

it('another master key than the one the database was created with stops the start', async () => {
  const once = await start({ ROLE: 'api' });
  await once.stop();
  await expect(start({ ROLE: 'api', SECRET_KEY: randomBytes(32).toString('base64') })).rejects.toThrow(
    'SECRET_KEY is not the one that this database was created with.',
  );
});

it('a port that is taken stops the start with a sentence that names it', async () => {
  const taken = createServer();
  const port = await freePort();
  await new Promise<void>((resolve) => taken.listen(port, '127.0.0.1', resolve));
  try {
    await expect(start({ ROLE: 'api', PORT: String(port) })).rejects.toThrow(
      `PORT ${port} on 127.0.0.1 is in use`,
    );
  } finally {
    taken.close();
  }
});
