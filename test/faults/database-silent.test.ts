/** The database's link falls silent, and neither end learns of it; or a proxy accepts connections and closes them. */
import { afterAll, expect, it } from 'vitest';
import { login } from '../support/api/client.ts';
import { installationOfFile, receiverOfTest } from '../support/lifetimes.ts';
import { type Program, startProgram } from '../support/programs/program.ts';
import { startTcpProxy } from '../support/servers/tcp-proxy.ts';
import { until } from '../support/until.ts';

let program: Program | undefined;

const installation = await installationOfFile();
const { port } = new URL(installation.env.DATABASE_URL);
const proxy = await startTcpProxy({ port: Number(port) });
afterAll(async () => {
  await program?.kill().catch(() => {});
  await proxy.close();
});

function start(env: Record<string, string> = {}): Promise<Program> {
  const url = new URL(installation.env.DATABASE_URL);
  url.port = String(proxy.port);
  return startProgram({ ...installation.env, DATABASE_URL: url.href, ...env });
}

it('the program stops in time while the database is silent, and reports a failure', async () => {
  const receiver = await receiverOfTest();
  program = await start({ SHUTDOWN_GRACE: '4s' });
  const client = await login(program.url, installation.credentials);
  await client.request('POST', '/webhooks', {
    url: receiver.url,
    webhookType: 'CREATE_ORDER',
    active: true,
    method: 'POST',
  });
  await client.createOrder('before');
  await receiver.waitFor(1);

  proxy.silence();
  // It neither hangs nor reports success.
  expect(await program.stop()).toBe(1);
  expect(program.output()).toContain('Not everything stopped within 4 s');
});

it('a database address that only closes connections fails a start; a running process answers 503', async () => {
  proxy.pass();
  program = await start({ ROLE: 'api' });
  const client = await login(program.url, installation.credentials);
  proxy.hangUp();

  const statuses = await Promise.all(
    Array.from({ length: 40 }, async (_, index) => {
      const { statusCode } =
        index % 2 === 0
          ? await client.request('GET', '/webhooks')
          : await client.createOrder(`away-${index}`);
      return statusCode;
    }),
  );
  expect(new Set(statuses)).toEqual(new Set([503]));
  await expect(start()).rejects.toThrow('The database at DATABASE_URL cannot be reached.');

  proxy.pass();
  await until('it to be back', async () => (await client.request('GET', '/webhooks')).statusCode === 200);
  expect(await program.stop()).toBe(0);
});
