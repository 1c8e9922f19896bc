/** A webhook switched on and off thousands of times: the server would end a workflow with so long a history. */
import { TestWorkflowEnvironment } from '@temporalio/testing';
import pino from 'pino';
import { afterAll, expect, test } from 'vitest';
import { findTemporal } from '../../src/embedded/temporal-binary.ts';
import { routeTemporalLogs } from '../../src/temporal/logs.ts';
import { createOperatorActions } from '../../src/temporal/operator-actions.ts';
import { webhookChangedSignal } from '../../workflows/delivery-types.ts';
import {
  deliveryStateKey,
  entityIdKey,
  eshopIdKey,
  lastStatusKey,
  receiverHostKey,
  webhookIdKey,
  webhookTypeKey,
} from '../../workflows/search-attributes.ts';
import { lockDelivery } from '../support/database/locked-delivery.ts';
import { receiverOfFile, stackOfFile } from '../support/lifetimes.ts';

// The environment would install the SDK's runtime with its own settings, and there is only one.
routeTemporalLogs(pino({ level: 'silent' }));
const path = await findTemporal({ report: () => {} });
const temporal: TestWorkflowEnvironment = await TestWorkflowEnvironment.createLocal({
  server: {
    executable: { type: 'existing-path', path },
    searchAttributes: [
      eshopIdKey,
      webhookIdKey,
      webhookTypeKey,
      entityIdKey,
      receiverHostKey,
      deliveryStateKey,
      lastStatusKey,
    ],
    // The default of 4,096 events would take thousands of changes.
    extraArgs: ['--dynamic-config-value', 'limit.historyCount.suggestContinueAsNew=80'],
  },
});
const stack = await stackOfFile('fresh-history', {
  temporalAddress: temporal.address,
  policy: { windowMs: 3_600_000 },
});
const receiver = await receiverOfFile({ status: 503, headers: { 'retry-after': '600' } });
afterAll(() => temporal.teardown());

test('a delivery continues in a fresh history, with its count and its wait', async () => {
  const webhook = await stack.createWebhook(receiver.url);
  const id = await stack.fireOne('10080');
  await stack.untilWaiting(id);
  await stack.changeWebhook(webhook.id, { active: false });
  await stack.untilHeld(id);
  const first = (await stack.describe(id))?.runId;
  let moves = 0;
  await stack.until('a fresh history', async () => {
    moves += 1;
    await stack.changeWebhook(webhook.id, { url: `${receiver.url}/${moves}` });
    return (await stack.describe(id))?.runId !== first;
  });
  await stack.untilHeld(id);
  expect(receiver.requests).toHaveLength(1);
  receiver.respond({ status: 200 });
  await stack.changeWebhook(webhook.id, { active: true });
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  expect(receiver.requests.map(({ headers }) => headers['x-service-attempt'])).toEqual(['1', '2']);
});

test('an operator action under way at the change is shown in the fresh history', async () => {
  receiver.respond({ status: 503, headers: { 'retry-after': '600' } });
  await stack.retireWebhooks();
  await stack.createWebhook(`${receiver.url}/acted-on`);
  const id = await stack.fireOne('10082');
  await stack.untilWaiting(id);
  const first = (await stack.describe(id))?.runId;
  const releases = await lockDelivery(stack.sql, id);
  await stack.signal(id, 'hold', { by: 'anna', reason: 'stock-taking' });
  const pending = async () =>
    ((await stack.describe(id))?.raw.pendingActivities ?? []).map(({ activityType }) => activityType?.name);
  await stack.until('the action to begin', async () => (await pending()).includes('steerDelivery'));
  await stack.until('a history that is too long', async () => {
    await stack.signal(id, webhookChangedSignal);
    return Number((await stack.describe(id))?.historyLength) > 120;
  });
  expect((await stack.describe(id))?.runId).toBe(first);
  releases();
  await stack.until('a fresh history', async () => (await stack.describe(id))?.runId !== first);
  const { currentDetails } = await stack
    .workflow(id)
    .query<{ currentDetails: string }>('__temporal_workflow_metadata');
  expect(currentDetails).toMatch(/\| hold \|.* anna .*stock-taking/);
});

test('a delivery between attempts continues in a fresh history, and sends nothing early', async () => {
  receiver.respond({ status: 503, headers: { 'retry-after': '600' } });
  const before = receiver.requests.length;
  await stack.retireWebhooks();
  await stack.createWebhook(`${receiver.url}/waiting`);
  const id = await stack.fireOne('10081');
  await stack.untilWaiting(id);
  receiver.respond({ status: 429, headers: { 'retry-after': '600' } });
  const { client, sql, policy } = stack;
  await createOperatorActions({ client, sql, policy })('tryNow', id, { by: 'anna', reason: '' });
  const shown = async () => {
    const query = stack.workflow(id).query<{ currentDetails: string }>('__temporal_workflow_metadata');
    return String((await query).currentDetails);
  };
  await stack.until('the second attempt', async () => (await shown()).includes('Attempt 2 of 21 failed'));
  const first = (await stack.describe(id))?.runId;
  await stack.until('a fresh history', async () => {
    await stack.signal(id, webhookChangedSignal);
    return (await stack.describe(id))?.runId !== first;
  });
  await stack.until('its wait', async () => {
    const { events } = await stack.workflow(id).fetchHistory();
    return events?.some((event) => event.timerStartedEventAttributes);
  });
  expect(await shown()).toContain('Attempt 2 of 21 failed');
  expect(await shown()).toMatch(/\| tryNow \|.* anna /);
  expect((await stack.describe(id))?.typedSearchAttributes.get(lastStatusKey)).toBe(429);
  expect(receiver.requests).toHaveLength(before + 2);
  expect(await stack.delivery(id)).toMatchObject({ state: 'retrying', attemptsMade: 2 });
});
