/** Temporal's limits in `waybill status`: through a proxy that refuses calls as a server at its limits does. */
import { afterAll, expect, inject, onTestFinished, test } from 'vitest';
import { stackOfFile } from '../support/lifetimes.ts';
import { triedWaybill } from '../support/programs/waybill-command.ts';
import { startGrpcProxy } from '../support/servers/grpc-proxy.ts';

/** As a frontend answers beyond `frontend.namespaceRPS`. */
const AT_ITS_LIMIT = { status: 8, message: 'namespace rate limit exceeded' };

const proxy = await startGrpcProxy(inject('temporalAddress'));
const stack = await stackOfFile('limits', { worker: false });
afterAll(() => proxy.close());

const status = async () => {
  const { printed } = await triedWaybill(['status', '--json'], {
    ...stack.env,
    TEMPORAL_ADDRESS: proxy.address,
  });
  return JSON.parse(printed);
};

test.each([
  ['the list of workers', /DescribeTaskQueue$/],
  ['the paused workflows', /CountWorkflowExecutions$/],
])('status names Temporal’s limits if it refuses %s', async (_, path) => {
  proxy.refuse(path, AT_ITS_LIMIT);
  onTestFinished(() => proxy.pass());
  const { temporal, problems } = await status();
  expect(temporal.problem).toBe(
    `Temporal at ${proxy.address} refuses calls beyond its limits (8 RESOURCE_EXHAUSTED: namespace rate limit exceeded): raise them, or find out who makes so many.`,
  );
  expect(problems).toContainEqual(expect.objectContaining({ message: temporal.problem }));
});
