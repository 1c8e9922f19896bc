/** The ids of deliveries' workflows: they say what goes where. */
import { describe, expect, test } from 'vitest';
import { createOperatorActions } from '../../src/temporal/operator-actions.ts';
import { receiverOfTest, stackOfTest } from '../support/lifetimes.ts';
import type { DeliveryStack, StackOptions } from '../support/temporal/delivery-stack.ts';

const asks = { status: 503, headers: { 'retry-after': '600' } } as const;

async function start(options: StackOptions = {}) {
  const stack = await stackOfTest('workflow-ids', {
    policy: { windowMs: 3_600_000 },
    timings: { reconcileIntervalMs: 300, reconcileGraceMs: 1_000 },
    ...options,
  });
  const receiver = await receiverOfTest();
  const webhook = await stack.createWebhook(receiver.url);
  return { stack, receiver, webhook };
}

const statusOf = async (stack: DeliveryStack, workflowId: string) =>
  await stack.client.workflow
    .getHandle(workflowId)
    .describe()
    .then(
      ({ status }) => status.name,
      () => undefined,
    );

describe.each([
  ['under light load', {}],
  ['in a burst', { calmPerSecond: 0 }],
])('%s', (_, scheduler) => {
  test('a failing delivery has a workflow with a speaking id, which is signaled and closed under it', async () => {
    const { stack, receiver, webhook } = await start({ scheduler });
    receiver.respond(asks);
    const id = await stack.fireOne('2026/10001');
    await stack.untilState(id, 'retrying');
    const workflowId = `delivery/${webhook.id}/CREATE_ORDER/2026%2F10001/${id}`;
    await stack.until('its workflow', async () => (await statusOf(stack, workflowId)) === 'RUNNING');

    await stack.changeWebhook(webhook.id, { url: `${receiver.url}/moved` });
    await receiver.waitFor(2);
    await stack.until('the record', async () => (await stack.delivery(id)).attemptsMade === 2);
    const { client, sql, policy } = stack;
    // A busy machine may take longer than operators are made to wait.
    const request = createOperatorActions({ client, sql, policy, answerMs: 60_000 });
    expect(await request('hold', id, { by: 'anna', reason: '' })).toMatchObject({ accepted: true });
    await stack.untilHeld(id);
    await stack.client.workflow.getHandle(workflowId).terminate('enough');
    expect(await stack.untilState(id, 'canceled')).toMatchObject({ canceledBy: 'operator' });
  });
});

test.each(['a b', 'žluť/100 %', `it's "quoted"\\`, '日'.repeat(64), '..a'])(
  'an order called %s is delivered, and listed by its webhook',
  async (entityId) => {
    const { stack, webhook } = await start();
    const id = await stack.fireOne(entityId);
    expect(await stack.untilClosed(id)).toBe('COMPLETED');
    // Other tests have webhooks with the same number.
    const query = `TaskQueue = "${stack.taskQueue}" AND WorkflowId STARTS_WITH "delivery/${webhook.id}/CREATE_ORDER/"`;
    await stack.until('the list', async () => {
      for await (const { workflowId } of stack.client.workflow.list({ query }))
        return workflowId === stack.workflowId(id);
      return false;
    });
  },
);
