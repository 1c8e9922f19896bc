/** The process is killed in the middle of a batch that an operator has canceled. */
import { expect, type TestContext, test } from 'vitest';
import { batchWorkflowId } from '../../workflows/batch-types.ts';
import { login } from '../support/client.ts';
import { createInstallation } from '../support/installation.ts';
import { startProgram } from '../support/program.ts';
import { createReceiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';
import { untilEnded, withTemporal } from '../support/workflows.ts';

const ORDERS = 20;

/** An installation with orders that wait for a worker, and a receiver; answers a function to start a worker. */
async function withOrders(onTestFinished: TestContext['onTestFinished']) {
  const installation = await createInstallation();
  onTestFinished(() => installation.remove());
  const receiver = await createReceiver();
  onTestFinished(() => receiver.close());
  // Hanging requests end with the kill, not with their time-out.
  const env = { ...installation.env, FIRST_ATTEMPTS: 'batch', DELIVERY_TIMEOUT: '60s' };
  const api = await startProgram({ ...env, ROLE: 'api' });
  onTestFinished(() => api.kill());
  const client = await login(api.url, installation.credentials);
  const webhook = { url: receiver.url, webhookType: 'CREATE_ORDER', active: true, method: 'POST' };
  await client.request('POST', '/webhooks', webhook);
  for (let index = 0; index < ORDERS; index += 1) await client.createOrder(`order-${index}`);
  await api.stop();
  let worker: ReturnType<typeof startProgram> | undefined;
  // Its attempts begin before it reports that it is ready.
  const kill = async () => (await worker)?.kill();
  onTestFinished(kill);
  return {
    sql: installation.sql,
    receiver,
    temporalAddress: env.TEMPORAL_ADDRESS,
    kill,
    async startWorker() {
      worker = startProgram({ ...env, ROLE: 'worker' });
      await worker;
    },
  };
}

test('canceled by an operator before its worker dies: each delivery continues in its own workflow, and the batch does not begin again', async ({
  onTestFinished,
}) => {
  const { sql, receiver, temporalAddress, kill, startWorker } = await withOrders(onTestFinished);
  receiver.respond({ hang: 'headers' });
  await startWorker();
  await receiver.waitFor(ORDERS);
  const [batch] = await sql<{ id: string }[]>`select id from batches`;
  const workflowId = batchWorkflowId(batch?.id ?? '');
  // The batch learns of it, and waits for the requests under way.
  await withTemporal(temporalAddress, async ({ workflow }) => {
    const handle = workflow.getHandle(workflowId);
    await handle.cancel();
    await until('the batch to be told', async () =>
      (await handle.fetchHistory()).events?.some((event) => event.activityTaskCancelRequestedEventAttributes),
    );
  });
  await kill();
  // No process makes an attempt while an earlier request may still be at the receiver.
  await sql`update attempts set owned_until = now()`;
  receiver.respond({ status: 200 });
  await startWorker();
  await until(
    'every delivery',
    async () => (await sql`select from deliveries where state = 'delivered'`).length === ORDERS,
  );
  await untilEnded(temporalAddress, [workflowId]);
  const { status } = await withTemporal(temporalAddress, ({ workflow }) =>
    workflow.getHandle(workflowId).describe(),
  );
  expect(status.name).toBe('CANCELLED');
  expect(await sql`select delivered, requeued from batches`).toMatchObject([
    { delivered: 0, requeued: ORDERS },
  ]);
  expect(receiver.requests).toHaveLength(2 * ORDERS);
});
