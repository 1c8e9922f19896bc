/** The receiver's host as a search attribute: known at the start, after a change of URL, and not required of any server. */
import { TestWorkflowEnvironment } from '@temporalio/testing';
import pino from 'pino';
import { v7 as uuidv7 } from 'uuid';
import { expect, onTestFinished, test } from 'vitest';
import { findTemporal } from '../../src/embedded/temporal-binary.ts';
import { createDispatcher } from '../../src/temporal/dispatcher.ts';
import { routeTemporalLogs } from '../../src/temporal/logs.ts';
import { deliveryWorkflowId } from '../../workflows/delivery-id.ts';
import {
  entityIdKey,
  eshopIdKey,
  receiverHostKey,
  webhookIdKey,
  webhookTypeKey,
} from '../../workflows/search-attributes.ts';
import { neverAttempted } from '../support/deliveries.ts';
import { quickPolicy, startDeliveryStack } from '../support/delivery-stack.ts';
import { createReceiver } from '../support/receiver.ts';

test('the host at the start, and the new one once the webhook points elsewhere', async () => {
  const stack = await startDeliveryStack('receiver-host', { policy: { windowMs: 3_600_000 } });
  onTestFinished(() => stack.stop());
  const receiver = await createReceiver({ status: 503, headers: { 'retry-after': '600' } });
  onTestFinished(() => receiver.close());
  const { id: webhookId } = await stack.createWebhook(receiver.url);
  const id = await stack.fireOne('10001');
  await stack.untilState(id, 'retrying');
  const hostOf = async () => (await stack.describe(id))?.typedSearchAttributes.get(receiverHostKey);
  expect(await hostOf()).toBe(`127.0.0.1:${receiver.port}`);
  await stack.changeWebhook(webhookId, { url: `http://LocalHost:${receiver.port}/elsewhere` });
  await stack.until('the new host', async () => (await hostOf()) === `localhost:${receiver.port}`);
});

test('a server that does not know the attribute gets the delivery without it', async () => {
  // The environment would install the SDK's runtime with its own settings, and there is only one.
  routeTemporalLogs(pino({ level: 'silent' }));
  const path = await findTemporal({ report: () => {} });
  const temporal = await TestWorkflowEnvironment.createLocal({
    server: {
      executable: { type: 'existing-path', path },
      searchAttributes: [eshopIdKey, webhookIdKey, webhookTypeKey, entityIdKey],
    },
  });
  onTestFinished(() => temporal.teardown());
  const dispatcher = createDispatcher(temporal.client, 'nobody', quickPolicy);
  for (const id of [uuidv7(), uuidv7()]) {
    const order = { eventType: 'CREATE_ORDER', entityId: '10001' } as const;
    const delivery = { id, eshopId: 1, webhookId: 7, ...order };
    await dispatcher.startDelivery(
      { ...neverAttempted, ...delivery, receiverHost: 'shop.example' },
      'recovery',
    );
    const found = await temporal.client.workflow.getHandle(deliveryWorkflowId(delivery)).describe();
    expect(found.typedSearchAttributes.get(webhookIdKey)).toBe(7);
    expect(found.typedSearchAttributes.get(receiverHostKey)).toBeUndefined();
  }
});
