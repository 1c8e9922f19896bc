/** Temporal's limits in `waybill status`: through a proxy that refuses calls as a server at its limits does. */
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { type DeliveryStack, startDeliveryStack } from '../support/delivery-stack.ts';
import { type GrpcProxy, startGrpcProxy } from '../support/grpc-proxy.ts';
import { triedWaybill } from '../support/waybill-command.ts';

/** As a frontend answers beyond `frontend.namespaceRPS`. */
const AT_ITS_LIMIT = { status: 8, message: 'namespace rate limit exceeded' };

let stack: DeliveryStack;
let proxy: GrpcProxy;
beforeAll(async () => {
  proxy = await startGrpcProxy(inject('temporalAddress'));
  stack = await startDeliveryStack('limits', { worker: false });
});
afterAll(async () => {
  await stack?.stop();
  await proxy?.close();
});

const status = async () => {
  const { printed } = await triedWaybill(['status', '--json'], {
    DATABASE_URL: stack.database.url,
    TEMPORAL_ADDRESS: proxy.address,
    TEMPORAL_TASK_QUEUE: stack.taskQueue,
  });
  return JSON.parse(printed);
};

test.each([
  ['the list of workers', /DescribeTaskQueue$/],
  ['the paused workflows', /CountWorkflowExecutions$/],
])('where %s is refused because of them, they are named', async (_, path) => {
  proxy.refuse(path, AT_ITS_LIMIT);
  onTestFinished(() => proxy.pass());
  const { temporal, needs } = await status();
  expect(temporal.problem).toBe(
    `Temporal at ${proxy.address} refuses calls beyond its limits (8 RESOURCE_EXHAUSTED: namespace rate limit exceeded): raise them, or find out who makes so many.`,
  );
  expect(needs).toContain(temporal.problem);
});
