/** Workers whose polls, and nothing else, Temporal refuses: they give up for good, and others take over. */
import { expect, inject, onTestFinished, test } from 'vitest';
import { receiverOfTest, stackOfTest } from '../support/lifetimes.ts';
import { type GrpcProxy, POLLS, startGrpcProxy, TOO_LARGE } from '../support/servers/grpc-proxy.ts';

const timings = { afterFailureMs: 50 };

async function startProxy(): Promise<GrpcProxy> {
  const proxy = await startGrpcProxy(inject('temporalAddress'));
  onTestFinished(() => proxy.close());
  return proxy;
}

test('new workers take over, and Temporal counts as down until it accepts their polls', async () => {
  const proxy = await startProxy();
  const stack = await stackOfTest('polls-refused', { worker: false, timings });
  const worker = await stack.newWorker({ temporalAddress: proxy.address });
  let accepts = false;
  const receiver = await receiverOfTest(() => (accepts ? {} : { status: 500 }));
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
  const stack = await stackOfTest('all-calls-refused', {
    worker: false,
    timings,
    policy: { initialIntervalMs: 500, windowMs: 3_600_000 },
  });
  const worker = await stack.newWorker({ temporalAddress: proxy.address });
  const receiver = await receiverOfTest(({ count }) => ({ status: count < 2 ? 503 : 200 }));
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
  const stack = await stackOfTest('polls-refused-for-long', { worker: false, timings });
  proxy.refuse(POLLS, TOO_LARGE);
  const broken: Error[] = [];
  const worker = await stack.newWorker({
    temporalAddress: proxy.address,
    onBroken: (error) => broken.push(error),
  });
  await stack.until('the end', async () => broken.length > 0);
  await worker.stop();
  expect(broken.map(({ message }) => message)).toEqual([
    "Temporal's SDK has given up polling 5 times: the log says why. This process exits, so that its supervisor restarts it.",
  ]);
});
