/** Recoveries on a real Temporal server deliver lost events once, no matter who controls them, and from where. */
import { afterEach, expect, test } from 'vitest';
import { beginRecovery, controlRecovery, readRecovery } from '../../src/db/recoveries/recoveries.ts';
import { stepRecovery } from '../../src/db/recoveries/step.ts';
import { pauseWebhook } from '../../src/db/webhooks/pause.ts';
import type { Recoverable } from '../../src/domain/recovery.ts';
import { recoveryWorkflowId } from '../../workflows/recovery-types.ts';
import { type Lost, loseEvents, loseMany, recoveredBy } from '../support/api/recoveries.ts';
import { later } from '../support/later.ts';
import { receiverOfTest, stackOfFile, stackOfTest } from '../support/lifetimes.ts';
import type { Receiver } from '../support/servers/receiver.ts';
import type { DeliveryStack, StackOptions } from '../support/temporal/delivery-stack.ts';
import { untilRecoveryShown } from '../support/temporal/recovery-shown.ts';
import { fireMany, relayTo } from '../support/temporal/relay.ts';

const shared = await stackOfFile('recovery');
afterEach(() => shared.retireWebhooks());

async function ownStack(options: StackOptions): Promise<DeliveryStack> {
  return await stackOfTest('recovery', options);
}

async function subscribed(stack: DeliveryStack = shared) {
  const receiver = await receiverOfTest();
  const { id: webhookId } = await stack.createWebhook(receiver.url);
  const lost: Lost = { sql: stack.sql, eshopId: stack.eshopId, webhookId };
  return { stack, receiver, lost };
}

/** Lets a receiver answer nothing; returns the function that lets it answer all requests, so far and later. */
function hang(receiver: Receiver): () => void {
  const [released, release] = later();
  receiver.respond(async () => {
    await released;
    return {};
  });
  return release;
}

/** Begins one, as the API does. */
async function begin(
  { sql, eshopId, webhookId }: Lost,
  include: readonly Recoverable[] = ['failed'],
): Promise<string> {
  const begun = await beginRecovery(sql, {
    eshopId,
    webhookId,
    since: new Date(Date.now() - 3_600_000),
    until: null,
    include,
  });
  if (begun.kind !== 'begun') throw new Error('expected a new recovery');
  return begun.recoveryId;
}

const workflowOf = (stack: DeliveryStack, recoveryId: string) =>
  stack.client.workflow.getHandle(recoveryWorkflowId(recoveryId));

const untilState = (stack: DeliveryStack, recoveryId: string, state: string) =>
  stack.until(`the recovery to be ${state}`, async () => {
    const row = await readRecovery(stack.sql, recoveryId);
    return row?.state === state && row;
  });

const created = async (stack: DeliveryStack, recoveryId: string) =>
  (await recoveredBy(stack.sql, recoveryId)).length;

test.each([
  ['under light load', {}],
  ['in a burst', { calmPerSecond: 0 }],
])('%s, everything lost is delivered once, and the operator sees the progress', async (when, scheduler) => {
  const own = when === 'in a burst' ? await ownStack({ scheduler }) : shared;
  const { stack, receiver, lost } = await subscribed(own);
  await loseMany(lost, 25);
  const recoveryId = await begin(lost);
  await untilState(stack, recoveryId, 'completed');
  const entities = receiver.requests.map(({ text }) => JSON.parse(text).eshopOrderId);
  expect(entities.sort()).toEqual(Array.from({ length: 25 }, (_, index) => `lost ${index}`).sort());
  expect(await stack.untilEnded(recoveryWorkflowId(recoveryId))).toBe('COMPLETED');

  const handle = workflowOf(stack, recoveryId);
  const description = await handle.describe();
  expect(await description.staticSummary()).toBe(`recovery of 25 events → webhook ${lost.webhookId}`);
  expect(await description.staticDetails()).toContain('that are failed at the webhook');
  expect(description.priority).toMatchObject({ priorityKey: 4, fairnessKey: String(stack.eshopId) });
  const attributes = description.typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]);
  expect(Object.fromEntries(attributes)).toMatchObject({
    EshopId: stack.eshopId,
    WebhookId: lost.webhookId,
    WebhookType: 'CREATE_ORDER',
  });
  const progress = { state: 'completed', created: 25, done: 25, failed: 0, left: 0 };
  expect(await handle.result()).toMatchObject(progress);
});

test('events missed while the webhook was inactive are delivered too', async () => {
  // Its own stack: otherwise its webhook would have missed the other tests' events too.
  const { stack, receiver, lost } = await subscribed(await ownStack({}));
  await stack.changeWebhook(lost.webhookId, { active: false });
  for (const entity of ['1', '2', '3']) expect(await stack.fire(entity)).toEqual([]);
  await stack.changeWebhook(lost.webhookId, { active: true });
  const recoveryId = await begin(lost, ['missed']);
  expect(await untilState(stack, recoveryId, 'completed')).toMatchObject({ created: 3, failed: 0 });
  expect(new Set(receiver.requests.map(({ text }) => JSON.parse(text).eshopOrderId))).toEqual(
    new Set(['1', '2', '3']),
  );
});

test('the workflow follows when the e-shop pauses, resumes or cancels a recovery', async () => {
  const { stack, receiver, lost } = await subscribed();
  // A receiver that answers nothing gets no more than the first few.
  const answer = hang(receiver);
  await loseMany(lost, 60);
  const recoveryId = await begin(lost);
  await stack.until('the first', async () => (await created(stack, recoveryId)) === 20);
  await controlRecovery(stack.sql, recoveryId, 'pause', { by: 'user' });
  await untilRecoveryShown(stack, recoveryId, 'paused');
  answer();
  await controlRecovery(stack.sql, recoveryId, 'resume', { by: 'user' });
  await stack.until('more', async () => (await created(stack, recoveryId)) > 20);
  await controlRecovery(stack.sql, recoveryId, 'cancel', { by: 'user' });
  expect(await stack.untilEnded(recoveryWorkflowId(recoveryId))).toBe('COMPLETED');
  expect(await workflowOf(stack, recoveryId).result()).toMatchObject({
    state: 'canceled',
    reason: 'Canceled on request.',
  });
});

test("a recovery canceled with Temporal's own button is canceled for the e-shop too", async () => {
  const { stack, receiver, lost } = await subscribed();
  receiver.respond({ hang: 'headers' });
  await loseMany(lost, 60);
  const recoveryId = await begin(lost);
  await untilRecoveryShown(stack, recoveryId, 'running');
  await workflowOf(stack, recoveryId).cancel();
  expect(await stack.untilEnded(recoveryWorkflowId(recoveryId))).toBe('CANCELLED');
  expect(await readRecovery(stack.sql, recoveryId)).toMatchObject({ state: 'canceled', by: 'operator' });
  const first = await workflowOf(stack, recoveryId).describe();
  // Its relay is late, and passes the cancellation on to a workflow that has ended.
  await stack.sql`update recoveries set signaled_version = 0 where id = ${recoveryId}`;
  await stack.notify();
  await stack.until('the change to be signaled', async () => {
    const [row] =
      await stack.sql`select signaled_version = version as signaled from recoveries where id = ${recoveryId}`;
    return row?.signaled === true;
  });
  const { runId, status } = await workflowOf(stack, recoveryId).describe();
  expect([runId, status.name]).toEqual([first.runId, 'CANCELLED']);
});

test('a recovery waits while its webhook is inactive, continues once active, and ends if it is deleted', async () => {
  const { stack, receiver, lost } = await subscribed();
  const answer = hang(receiver);
  await loseMany(lost, 60);
  const recoveryId = await begin(lost);
  await stack.until('the first', async () => (await created(stack, recoveryId)) > 0);
  await stack.changeWebhook(lost.webhookId, { active: false });
  expect(await untilRecoveryShown(stack, recoveryId, 'paused')).toContain('The webhook is inactive');
  answer();
  await stack.changeWebhook(lost.webhookId, { active: true });
  await stack.until('more', async () => (await created(stack, recoveryId)) > 20);
  await stack.changeWebhook(lost.webhookId, { active: false });
  await untilRecoveryShown(stack, recoveryId, 'paused');
  await stack.changeWebhook(lost.webhookId, { deleted: true });
  expect(await stack.untilEnded(recoveryWorkflowId(recoveryId))).toBe('COMPLETED');
  expect(await workflowOf(stack, recoveryId).result()).toMatchObject({
    state: 'canceled',
    reason: 'Canceled with its webhook, which was deleted.',
  });
});

test('a recovery waits while its webhook is paused, and continues afterwards', async () => {
  const { stack, receiver, lost } = await subscribed();
  receiver.respond({ status: 200 });
  await loseMany(lost, 30);
  await pauseWebhook(stack.sql, stack.eshopId, lost.webhookId, new Date(Date.now() + 3_600_000));
  const recoveryId = await begin(lost);
  expect(await untilRecoveryShown(stack, recoveryId, 'paused')).toMatch(
    /The webhook is paused until 20.+Z: the recovery continues then\./,
  );
  expect(await created(stack, recoveryId)).toBe(0);
  // Its end passes: nobody is notified.
  await stack.sql`
    update webhooks set pauses = array[tstzrange(paused_at, clock_timestamp())] where id = ${lost.webhookId}`;
  await stack.sql`update recoveries set waits_until = now() where id = ${recoveryId} and waits_until is not null`;
  await untilState(stack, recoveryId, 'completed');
  expect(receiver.requests).toHaveLength(30);
});

test('deliveries created before a pause wait too; those created before a cancellation are still made', async () => {
  const { stack, lost } = await subscribed(await ownStack({ worker: false }));
  await loseEvents(lost, 'failed', ['1', '2']);
  const recoveryId = await begin(lost);
  await stepRecovery(stack.sql, recoveryId);
  await controlRecovery(stack.sql, recoveryId, 'pause', { by: 'user' });
  const attempted: string[] = [];
  let claims = 0;
  const { started: handedOver } = relayTo(stack, undefined, {
    async makeAttempt({ id }) {
      attempted.push(id);
      return { kind: 'notAttempted', reason: 'spent' };
    },
    onPass: (loop, result) => {
      if (loop === 'recovered' && result === 'idle') claims += 1;
    },
  });
  await fireMany(stack, 1);
  await stack.until('the fresh one', async () => handedOver.length > 0);
  await stack.until('a claim of recovered ones', async () => claims > 0);
  expect(attempted).toEqual(handedOver);
  await controlRecovery(stack.sql, recoveryId, 'cancel', { by: 'user' });
  await stack.until('the rest', async () => handedOver.length === 3);
});
