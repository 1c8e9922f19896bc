/** The process killed in the middle of a batch: nothing is lost, and only what was in flight comes twice. */
import { expect, type TestContext, test } from 'vitest';
import { batchWorkflowId } from '../../workflows/batch-types.ts';
import { login } from '../support/client.ts';
import { createInstallation } from '../support/installation.ts';
import { startProgram } from '../support/program.ts';
import { createReceiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';
import { untilEnded, withTemporal } from '../support/workflows.ts';

const ORDERS = 120;
const FEW = 20;

/** An installation whose orders wait for a worker, with a receiver; answers what starts a worker. */
async function withOrders(orders: number, onTestFinished: TestContext['onTestFinished']) {
  const installation = await createInstallation();
  onTestFinished(() => installation.remove());
  const receiver = await createReceiver();
  onTestFinished(() => receiver.close());
  // What hangs is ended by the kill, and never by its own time.
  const env = { ...installation.env, FIRST_ATTEMPTS: 'batch', DELIVERY_TIMEOUT: '60s' };
  const api = await startProgram({ ...env, ROLE: 'api' });
  onTestFinished(() => api.kill());
  const client = await login(api.url, installation.credentials);
  const webhook = { url: receiver.url, webhookType: 'CREATE_ORDER', active: true, method: 'POST' };
  await client.request('POST', '/webhooks', webhook);
  for (let index = 0; index < orders; index += 1) await client.createOrder(`order-${index}`);
  await api.stop();
  let worker: ReturnType<typeof startProgram> | undefined;
  // It makes attempts before it says that it is ready.
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
  const { sql, receiver, temporalAddress, kill, startWorker } = await withOrders(FEW, onTestFinished);
  receiver.respond({ hang: 'headers' });
  await startWorker();
  await receiver.waitFor(FEW);
  const [batch] = await sql<{ id: string }[]>`select id from batches`;
  const workflowId = batchWorkflowId(batch?.id ?? '');
  // It has been told, and waits for the requests under way.
  await withTemporal(temporalAddress, async ({ workflow }) => {
    const handle = workflow.getHandle(workflowId);
    await handle.cancel();
    await until('the batch to be told', async () =>
      (await handle.fetchHistory()).events?.some((event) => event.activityTaskCancelRequestedEventAttributes),
    );
  });
  await kill();
  receiver.respond({ status: 200 });
  await startWorker();
  await until(
    'every delivery',
    async () => (await sql`select from deliveries where state = 'delivered'`).length === FEW,
  );
  await untilEnded(temporalAddress, [workflowId]);
  const { status } = await withTemporal(temporalAddress, ({ workflow }) =>
    workflow.getHandle(workflowId).describe(),
  );
  expect(status.name).toBe('CANCELLED');
  expect(await sql`select delivered, handed_back from batches`).toMatchObject([
    { delivered: 0, handedBack: FEW },
  ]);
  expect(receiver.requests).toHaveLength(2 * FEW);
});

test('killed with requests under way: every delivery arrives, under its number, and what had its result does not come again', async ({
  onTestFinished,
}) => {
  const { sql, receiver, temporalAddress, kill, startWorker } = await withOrders(ORDERS, onTestFinished);
  let dying: Promise<void> | undefined;
  // Some answers are recorded before the kill, the others never come.
  receiver.respond(async ({ count }) => {
    if (count <= 40) return {};
    await until('results', async () => (await recorded()).size > 0);
    dying ??= kill();
    return { hang: 'headers' };
  });
  const recorded = async () =>
    new Set(
      (await sql<{ id: string }[]>`select id from deliveries where state = 'delivered'`).map(({ id }) => id),
    );
  await startWorker();
  await until('the kill', async () => dying !== undefined);
  await dying;
  receiver.respond({ status: 200 });
  const [restart] = await sql<{ at: Date }[]>`select clock_timestamp() as at`;
  await startWorker();
  await until('every delivery', async () => (await recorded()).size === ORDERS);
  const batches = await sql<{ id: string; delivered: number; handedBack: number }[]>`select * from batches`;
  await untilEnded(
    temporalAddress,
    batches.map(({ id }) => batchWorkflowId(id)),
  );

  const begun = await sql<{ deliveryId: string; again: boolean }[]>`
    select delivery_id, started_at > ${restart?.at ?? null} as again from attempts`;
  const sent = (id: string) =>
    receiver.requests.filter(({ headers }) => headers['x-service-delivery'] === id).length;
  const once = begun.filter(({ again }) => !again);
  const twice = begun.filter(({ deliveryId }) => sent(deliveryId) === 2);
  expect(once.length).toBeGreaterThan(0);
  expect(twice.length).toBeGreaterThan(0);
  expect(once.map(({ deliveryId }) => sent(deliveryId))).toEqual(once.map(() => 1));
  expect(begun.filter(({ deliveryId }) => ![1, 2].includes(sent(deliveryId)))).toEqual([]);
  expect(new Set(receiver.requests.map(({ headers }) => headers['x-service-attempt']))).toEqual(
    new Set(['1']),
  );
  expect(batches.reduce((sum, { delivered }) => sum + delivered, 0)).toBe(ORDERS);
  expect(batches.filter(({ handedBack }) => handedBack > 0)).toEqual([]);
});
