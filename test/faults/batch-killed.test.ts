/** The process killed in the middle of a batch: nothing is lost, and only what was in flight comes twice. */
import { expect, test } from 'vitest';
import { batchWorkflowId } from '../../workflows/batch-types.ts';
import { login } from '../support/client.ts';
import { createInstallation } from '../support/installation.ts';
import { startProgram } from '../support/program.ts';
import { createReceiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';
import { untilEnded } from '../support/workflows.ts';

const ORDERS = 120;

test('killed with requests under way: every delivery arrives, under its number, and what had its result does not come again', async ({
  onTestFinished,
}) => {
  const installation = await createInstallation();
  onTestFinished(() => installation.remove());
  const { sql } = installation;
  const receiver = await createReceiver();
  onTestFinished(() => receiver.close());
  const env = { ...installation.env, FIRST_ATTEMPTS: 'batch' };
  let program = await startProgram({ ...env, ROLE: 'api' });
  onTestFinished(() => program.kill());
  const client = await login(program.url, installation.credentials);
  const webhook = { url: receiver.url, webhookType: 'CREATE_ORDER', active: true, method: 'POST' };
  await client.request('POST', '/webhooks', webhook);
  for (let index = 0; index < ORDERS; index += 1) await client.createOrder(`order-${index}`);
  await program.stop();

  let dying: Promise<void> | undefined;
  // Some answers are recorded before the kill, the others never come.
  receiver.respond(async ({ count }) => {
    if (count <= 40) return {};
    await until('results', async () => (await recorded()).size > 0);
    dying ??= program.kill();
    return { hang: 'headers' };
  });
  const recorded = async () =>
    new Set(
      (await sql<{ id: string }[]>`select id from deliveries where state = 'delivered'`).map(({ id }) => id),
    );
  program = await startProgram({ ...env, ROLE: 'worker' });
  await until('the kill', async () => dying !== undefined, 60_000);
  await dying;
  const before = await recorded();
  const [batch] = await sql<{ id: string }[]>`select id from batches`;
  receiver.respond({ status: 200 });
  const sentBefore = receiver.requests.length;
  program = await startProgram({ ...env, ROLE: 'worker' });
  await until('every delivery', async () => (await recorded()).size === ORDERS, 60_000);
  await untilEnded(env.TEMPORAL_ADDRESS, [batchWorkflowId(batch?.id ?? '')], 60_000);

  const again = receiver.requests.slice(sentBefore);
  expect(again.filter(({ headers }) => before.has(String(headers['x-service-delivery'])))).toEqual([]);
  expect(again).toHaveLength(ORDERS - before.size);
  expect(new Set(receiver.requests.map(({ headers }) => headers['x-service-attempt']))).toEqual(
    new Set(['1']),
  );
  const batches = await sql`select id, delivered, handed_back from batches`;
  expect(batches).toMatchObject([{ id: batch?.id, delivered: ORDERS, handedBack: 0 }]);
}, 200_000);
