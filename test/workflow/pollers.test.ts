/** Who polls for what: a worker of which Temporal refuses the polls of one kind alone. */
import { Client } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { expect, inject, onTestFinished, test } from 'vitest';
import { processIdentity } from '../../src/lib/process-identity.ts';
import { ownPolls, type PolledKind, polledKinds, workersSeen } from '../../src/temporal/pollers.ts';
import { stackOfTest } from '../support/lifetimes.ts';
import { startGrpcProxy, UNAVAILABLE } from '../support/servers/grpc-proxy.ts';
import { until } from '../support/until.ts';

test('the kinds without a poller are named, and the accepted polls of this worker', async () => {
  const proxy = await startGrpcProxy(inject('temporalAddress'));
  onTestFinished(() => proxy.close());
  const stack = await stackOfTest('pollers', { worker: false });
  const { client, taskQueue } = stack;
  expect(await workersSeen(client, taskQueue)).toEqual({ workers: [], unpolled: polledKinds });
  const polled = ownPolls(client, taskQueue, processIdentity);
  const seen = new Set<PolledKind>();
  const look = async () => {
    for (const kind of await polled()) seen.add(kind);
  };

  proxy.refuse(/\/PollActivityTaskQueue$/, UNAVAILABLE);
  await stack.newWorker({ temporalAddress: proxy.address });
  await stack.until('its polls for workflows', async () => {
    await look();
    return seen.has('workflows') && proxy.refused > 2;
  });
  expect([...seen]).toEqual(['workflows']);
  expect(await workersSeen(client, taskQueue)).toEqual({
    workers: [processIdentity],
    unpolled: ['attempts', 'steps'],
  });

  proxy.pass();
  await stack.until('its other polls', async () => {
    await look();
    return seen.size === polledKinds.length;
  });
  expect(await workersSeen(client, taskQueue)).toEqual({ workers: [processIdentity], unpolled: [] });
});

test('a worker with only attempts polls neither for workflows nor for other steps', async () => {
  const connection = await NativeConnection.connect({ address: inject('temporalAddress') });
  onTestFinished(() => connection.close());
  const taskQueue = `attempts-alone-${Math.random().toString(36).slice(2, 8)}`;
  const attemptDelivery = async () => {};
  const alone = { connection, taskQueue, identity: 'alone', activities: { attemptDelivery } };
  const worker = await Worker.create(alone);
  const running = worker.run();
  onTestFinished(async () => {
    worker.shutdown();
    await running;
  });
  const client = new Client({ connection });
  await until('its polls', async () => (await workersSeen(client, taskQueue)).workers.length > 0);
  expect(await workersSeen(client, taskQueue)).toEqual({
    workers: ['alone'],
    unpolled: ['workflows', 'steps'],
  });
});
