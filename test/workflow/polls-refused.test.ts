/** Workers whose polls, and nothing else, Temporal refuses: they give up for good, and others take over. */
import { expect, inject, onTestFinished, test } from 'vitest';
import { type GrpcProxy, POLLS, startGrpcProxy, TOO_LARGE } from '../support/servers/grpc-proxy.ts';
import { createReceiver } from '../support/servers/receiver.ts';
import { startDeliveryStack } from '../support/temporal/delivery-stack.ts';

const timings = { afterFailureMs: 50 };

async function startProxy(): Promise<GrpcProxy> {
  const proxy = await startGrpcProxy(inject('temporalAddress'));
  onTestFinished(() => proxy.close());
  return proxy;
}

test('new workers take over, and Temporal counts as down until it accepts their polls', async () => {
  const proxy = await startProxy();
  const stack = await startDeliveryStack('polls-refused', { worker: false, timings });
  onTestFinished(() => stack.stop());
  const worker = await stack.newWorker({ temporalAddress: proxy.address });
  onTestFinished(() => worker.stop());
  let accepts = false;
  const receiver = await createReceiver(() => (accepts ? {} : { status: 500 }));
  onTestFinished(() => receiver.close());
  await stack.createWebhook(receiver.url);
  await stack.until('accepted polls', async () => proxy.passed(POLLS) > 0);

  proxy.refuse(POLLS, TOO_LARGE);
  const failures = () =>
    stack.logged.filter(({ msg }) => msg.startsWith("a worker of Temporal's SDK failed"));
  await stack.until('a failed worker', async () => failures().length > 0);
  expect(worker.temporalState()).toBe('down');
  proxy.pass();
  const id = await stack.fireOne('10001');
  await stack.untilBegun(id);
  accepts = true;

  await stack.untilState(id, 'delivered');
  await stack.until('up', async () => worker.temporalState() === 'up');
  await worker.stop();
  expect(failures()).toHaveLength(1);
});

test('while new workers do not reach Temporal, attempts and retries from the queue continue', async () => {
  const proxy = await startProxy();
  const stack = await startDeliveryStack('all-calls-refused', {
    worker: false,
    timings,
    policy: { initialIntervalMs: 500, windowMs: 3_600_000 },
  });
  onTestFinished(() => stack.stop());
  const worker = await stack.newWorker({ temporalAddress: proxy.address });
  onTestFinished(() => worker.stop());
  const receiver = await createReceiver(({ count }) => ({ status: count < 2 ? 503 : 200 }));
  onTestFinished(() => receiver.close());
  await stack.createWebhook(receiver.url);
  await stack.until('accepted polls', async () => proxy.passed(POLLS) > 0);

  proxy.refuse(/./, TOO_LARGE);
  const logged = (start: string) => async () => stack.logged.some(({ msg }) => msg.startsWith(start));
  await stack.until('a failed worker', logged("a worker of Temporal's SDK failed"));
  await stack.until('others that fail', logged('Temporal cannot be reached'));
  const id = await stack.fireOne('10001');
  await stack.untilState(id, 'delivered');
  expect(receiver.requests).toHaveLength(2);

  proxy.pass();
  await stack.untilBegun(id);
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  await stack.until('up', async () => worker.temporalState() === 'up');
});

test('a process exits before failed workers fill its memory, and a stop waits for none', async () => {
  const proxy = await startProxy();
  const stack = await startDeliveryStack('polls-refused-for-long', { worker: false, timings });
  onTestFinished(() => stack.stop());
  proxy.refuse(POLLS, TOO_LARGE);
  const broken: Error[] = [];
  const worker = await stack.newWorker({
    temporalAddress: proxy.address,
    onBroken: (error) => broken.push(error),
  });
  onTestFinished(() => worker.stop());
  await stack.until('the end', async () => broken.length > 0);
  await worker.stop();
  expect(broken.map(({ message }) => message)).toEqual([
    "Temporal's SDK has given up polling 5 times: the log says why. This process exits, so that its supervisor restarts it.",
  ]);
});
