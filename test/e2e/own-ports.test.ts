/** Waybill's own ports are no destinations, whatever is exempt: neither by address in a URL nor behind a name. */
import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { ownParts } from '../../src/cli/own-parts.ts';
import { listeningPorts } from '../../src/embedded/ports.ts';
import { type ApiClient, login } from '../support/api/client.ts';
import { endsWithTest, folderOfTest } from '../support/ends.ts';
import { receiverOfFile } from '../support/lifetimes.ts';
import { startProgram } from '../support/programs/program.ts';
import { startDnsServer } from '../support/servers/dns-server.ts';
import { until } from '../support/until.ts';

const dns = await startDnsServer({ 'here.example': ['127.0.0.1'] });
const receiver = await receiverOfFile();
afterAll(() => dns.close());

function webhook(url: string) {
  return { url, webhookType: 'CREATE_ORDER', active: true, method: 'GET' };
}

/** The only delivery of a webhook, once an attempt has failed. */
async function failedDelivery(client: ApiClient, webhookId: number) {
  let failed: { lastError?: string } | undefined;
  await until('a failed attempt', async () => {
    const { data } = await client.request('GET', `/webhooks/${webhookId}/deliveries`);
    failed = data.find((each: { attemptsMade: number }) => each.attemptsMade > 0);
    return failed !== undefined;
  });
  return failed;
}

it('ports of Waybill and of its own servers are no destinations, by address or by name', async () => {
  const dataDir = await folderOfTest('waybill-own-ports-');
  await chmod(dataDir, 0o755);
  const started = startProgram({ DATA_DIR: dataDir, DNS_SERVERS: dns.address });
  const program = await endsWithTest(started, (it) => it.stop());
  const client = await login(
    program.url,
    JSON.parse(await readFile(join(dataDir, 'demonstration.json'), 'utf8')),
  );
  const ui = Number(new URL(/Temporal UI\s+(\S+)/.exec(program.output())?.[1] ?? '').port);
  const noted = async (name: string) => Number(await readFile(join(dataDir, name), 'utf8'));
  const own = [
    Number(new URL(program.url).port),
    ui,
    await noted('temporal-port'),
    await noted('postgres-port'),
    ...(await listeningPorts(await noted('temporal/pid'))),
  ];
  expect(own.length).toBeGreaterThanOrEqual(9);
  const { data: known } = await client.request(
    'POST',
    '/webhooks',
    webhook(`http://127.0.0.1:${receiver.port}/`),
  );
  for (const port of own) {
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '127.1.2.3', '0.0.0.0']) {
      const refused = expect.stringMatching(/^url: must not lead to /);
      const url = `http://${host}:${port}/api/v1/namespaces/default/workflows?query=`;
      expect(await client.request('POST', '/webhooks', webhook(url))).toMatchObject({
        statusCode: 400,
        message: refused,
      });
      expect(await client.request('PUT', `/webhooks/${known.id}`, webhook(url))).toMatchObject({
        statusCode: 400,
        message: refused,
      });
    }
  }
  // The command, which examines receivers, knows them as well.
  const command = await ownParts({ DATA_DIR: dataDir });
  expect(own.filter((port) => !command.own.includes('127.0.0.1', port))).toEqual([]);
  const behindName = await client.request('POST', '/webhooks', webhook(`http://here.example:${ui}/`));
  expect(behindName.statusCode).toBe(200);
  await client.request('POST', '/webhooks', webhook(`http://here.example:${receiver.port}/named/`));

  await client.createOrder('own-ports');

  await receiver.waitFor(2);
  expect(receiver.requests.map(({ path }) => path).sort()).toEqual(['/named/own-ports', '/own-ports']);
  expect(await failedDelivery(client, behindName.data.id)).toMatchObject({
    lastError: `the address of here.example:${ui} is not allowed`,
    lastStatus: null,
  });
});
