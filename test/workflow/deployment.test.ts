/**
 * A deployment: workers of two releases share the task queue. The older one cannot continue what the newer one began;
 * its tries lose nothing, and nothing stays stuck once it is gone.
 */
import { expect, test } from 'vitest';
import { buildWorkflowBundle } from '../../src/temporal/workflow-bundle.ts';
import { receiverOfTest, stackOfTest } from '../support/lifetimes.ts';
import type { Receiver } from '../support/servers/receiver.ts';
import type { DeliveryStack } from '../support/temporal/delivery-stack.ts';

const next = await buildWorkflowBundle(new URL('../replay/example/with-patch.ts', import.meta.url));

async function setUp(name: string): Promise<{ stack: DeliveryStack; receiver: Receiver }> {
  const stack = await stackOfTest(name, { worker: false, policy: { windowMs: 3_600_000 } });
  const receiver = await receiverOfTest({ status: 503, headers: { 'retry-after': '600' } });
  return { stack, receiver };
}

async function beginDelivery({ stack, receiver }: { stack: DeliveryStack; receiver: Receiver }) {
  const webhook = await stack.createWebhook(receiver.url);
  const id = await stack.fireOne('10070');
  await stack.untilWaiting(id);
  receiver.respond({ status: 200 });
  return { id, move: () => stack.changeWebhook(webhook.id, { url: `${receiver.url}/moved` }) };
}

test('a delivery begun by the present release continues with the next one', async () => {
  const both = await setUp('upgraded');
  await both.stack.startWorker();
  const { id, move } = await beginDelivery(both);
  await both.stack.stopWorker();
  await both.stack.startWorker({ workflowBundle: next });
  await move();
  expect(await both.stack.untilClosed(id)).toBe('COMPLETED');
});

test('a delivery begun by the next release waits for it after a roll-back, and then continues', async () => {
  const both = await setUp('rolled-back');
  const { stack } = both;
  await stack.startWorker({ workflowBundle: next });
  const { id, move } = await beginDelivery(both);
  await stack.stopWorker();
  // Rolled back: the present release meets a marker that it does not know.
  await stack.startWorker();
  await move();
  await stack.until('the present release to refuse it', async () => {
    const { events } = await stack.workflow(id).fetchHistory();
    return events?.some((event) => event.workflowTaskFailedEventAttributes);
  });
  expect((await stack.describe(id))?.status.name).toBe('RUNNING');
  await stack.stopWorker();
  await stack.startWorker({ workflowBundle: next });
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  expect(await stack.attempts(id)).toMatchObject([{ outcome: 'failure' }, { outcome: 'success' }]);
});
