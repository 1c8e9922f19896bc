/** The schedule of the retention, with a Temporal that refuses it at first. */
import { expect, inject, onTestFinished, test } from 'vitest';
import { stackOfTest } from '../support/lifetimes.ts';
import { startGrpcProxy, TOO_LARGE } from '../support/servers/grpc-proxy.ts';

test('a schedule of the retention that fails at the start is made later by the same worker', async () => {
  const proxy = await startGrpcProxy(inject('temporalAddress'));
  onTestFinished(() => proxy.close());
  proxy.refuse(/CreateSchedule/, TOO_LARGE);
  const stack = await stackOfTest('retention-refused', {
    worker: false,
    retentionMs: 30 * 24 * 3_600_000,
    timings: { lookMs: 100 },
  });
  await stack.newWorker({ temporalAddress: proxy.address });
  const refused = () =>
    stack.logged.filter(({ msg }) => msg.startsWith('the retention could not be scheduled'));
  await stack.until('a rejection', async () => refused().length > 0);

  const before = proxy.passed(/CreateSchedule/);
  expect(before).toBe(0);
  proxy.pass();
  await stack.until('the schedule', async () => proxy.passed(/CreateSchedule/) > 0);
  expect(refused()).toHaveLength(1);
});
