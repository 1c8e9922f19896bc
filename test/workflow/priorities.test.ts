/** Tasks waiting at Temporal are taken by priority, and at equal priority from each e-shop in turn. */
import { Client } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import pino from 'pino';
import { expect, inject, onTestFinished, test } from 'vitest';
import { markDispatched } from '../../src/db/outbox/release.ts';
import { createDispatcher } from '../../src/temporal/dispatcher.ts';
import { routeTemporalLogs } from '../../src/temporal/logs.ts';
import { neighborOf } from '../support/api/neighbor.ts';
import { neverAttempted } from '../support/database/deliveries.ts';
import { receiverOfTest, stackOfTest } from '../support/lifetimes.ts';
import type { DeliveryStack } from '../support/temporal/delivery-stack.ts';
import { fireMany } from '../support/temporal/relay.ts';

const MANY = 24;

interface Row {
  readonly id: string;
  readonly eshopId: number;
  readonly webhookId: number;
  readonly eventType: 'CREATE_ORDER';
  readonly entityId: string;
  readonly receiverHost: string | null;
}

/** Many deliveries of one e-shop and a few of another, with no worker yet. */
async function waiting(name: string) {
  const stack = await stackOfTest(name, { worker: false, scheduler: { attempts: 1 } });
  const receivers = [await receiverOfTest(), await receiverOfTest()] as const;
  await stack.createWebhook(receivers[0].url);
  const neighbor = await neighborOf(stack, receivers[1].url);
  await fireMany(stack, MANY);
  await fireMany(stack, 5, neighbor.eshopId);
  const rows = await stack.sql<Row[]>`
    select id, eshop_id, webhook_id, event_type, entity_id, null as receiver_host from deliveries order by id`;
  await markDispatched(
    stack.sql,
    rows.map(({ id }) => id),
  );
  // The connection would install the SDK's runtime with its own settings, and there is only one.
  routeTemporalLogs(pino({ level: 'silent' }));
  const connection = await NativeConnection.connect({ address: inject('temporalAddress') });
  onTestFinished(() => connection.close());
  const dispatcher = createDispatcher(new Client({ connection }), stack.taskQueue, stack.policy);
  const ofNeighbor = rows.filter(({ eshopId }) => eshopId === neighbor.eshopId);
  const others = rows.filter(({ eshopId }) => eshopId !== neighbor.eshopId);
  return { stack, receivers, dispatcher, ofNeighbor, others };
}

/** How many others came before the middle one of these: a busy machine may lose a task, and one then comes later. */
async function attemptedBefore(stack: DeliveryStack, these: readonly Row[]): Promise<number> {
  await stack.startWorker();
  await stack.until('every delivery', async () => {
    const open = await stack.sql`select from deliveries where state <> 'delivered' limit 1`;
    return open.length === 0;
  });
  const rows = await stack.sql<{ deliveryId: string }[]>`
    select delivery_id from attempts order by started_at`;
  const order = rows.map(({ deliveryId }) => deliveryId);
  const middle = (these.length - 1) / 2;
  const places = these.map(({ id }) => order.indexOf(id)).sort((one, other) => one - other);
  return (places[middle] ?? order.length) - middle;
}

test('a restarted workflow or a retry does not wait behind fresh deliveries', async () => {
  const { stack, dispatcher, others } = await waiting('no-starvation');
  const [fresh, undelivered, lost] = others.map((row) => ({ ...neverAttempted, ...row }));
  if (fresh === undefined || undelivered === undefined || lost === undefined)
    throw new Error('too few deliveries');
  await dispatcher.startDelivery(fresh);
  await dispatcher.startDelivery(undelivered);
  await dispatcher.restart(lost, 'missing');
  const priorities = await Promise.all(
    [fresh, undelivered, lost].map(async ({ id }) => (await stack.describe(id))?.priority),
  );
  expect(new Set(priorities.map((priority) => priority?.priorityKey)).size).toBe(1);
  expect(priorities).toContainEqual(expect.objectContaining({ fairnessKey: String(stack.eshopId) }));
});

test('a few deliveries of one e-shop do not wait behind many of another', async () => {
  const { stack, dispatcher, ofNeighbor, others } = await waiting('by-turns');
  for (const row of [...others, ...ofNeighbor])
    await dispatcher.restart({ ...row, attemptsMade: 0 }, 'missing');
  expect(await attemptedBefore(stack, ofNeighbor)).toBeLessThan(MANY / 4);
});
