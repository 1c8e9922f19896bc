/** Operators activate, test and recover by starting workflows, as in Temporal's UI: a type by its name, and JSON. */
import { WorkflowFailedError } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { readRecovery } from '../../src/db/recoveries/recoveries.ts';
import { type DeliveryStack, startDeliveryStack } from '../support/delivery-stack.ts';
import { createReceiver, type Receiver } from '../support/receiver.ts';

let stack: DeliveryStack;
let receiver: Receiver;
let webhookId: number;
let started = 0;
beforeAll(async () => {
  stack = await startDeliveryStack('webhook-orders', { policy: { maxRetries: 1 } });
  receiver = await createReceiver();
});
afterAll(async () => {
  await receiver?.close();
  await stack?.stop();
});
afterEach(() => stack.retireWebhooks());

/** Starts a workflow with this input; answers its result, or the sentence of its refusal. */
async function asked(type: string, typed?: unknown) {
  started += 1;
  const workflowId = `${stack.taskQueue}-${started}`;
  const args = typed === undefined ? [] : [typed];
  const handle = await stack.client.workflow.start(type, { workflowId, taskQueue: stack.taskQueue, args });
  try {
    const result: unknown = await handle.result();
    return { handle, result };
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    return { handle, refused: error.cause?.message };
  }
}

const shownOf = async (handle: Awaited<ReturnType<typeof asked>>['handle']) =>
  (await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata')).currentDetails;

/** A webhook that was deactivated after receiver failures, and that has missed an event since. */
async function deactivated(): Promise<{ failed: string }> {
  ({ id: webhookId } = await stack.createWebhook(receiver.url));
  receiver.respond({ status: 503 });
  const failed = await stack.fireOne('10001');
  await stack.untilState(failed, 'failed');
  await stack.until('the deactivation', async () => !(await stack.webhook(webhookId)).active);
  expect(await stack.fire('10002')).toEqual([]);
  return { failed };
}

test('from the deactivation to the recovery of everything missed, by workflows alone', async () => {
  const since = new Date(Date.now() - 60_000).toISOString();
  await deactivated();
  const failing = await asked('testWebhook', { webhookId });
  expect(failing.result).toMatchObject({
    sentence: expect.stringMatching(
      /the receiver failed the test: HTTP 503 from 127\.0\.0\.1\S* after \d+ ms\.$/,
    ),
  });
  expect(await shownOf(failing.handle)).toContain('the receiver failed the test: HTTP 503');
  // Too early: nothing would be delivered.
  expect((await asked('recoverMissed', { webhookId, since })).refused).toBe(
    `Webhook ${webhookId} is inactive: start activateWebhook with it first.`,
  );

  receiver.respond({ status: 200 });
  expect((await asked('testWebhook', { webhookId })).result).toMatchObject({
    sentence: expect.stringMatching(/the receiver accepted the test \(HTTP 200, \d+ ms\)\.$/),
  });
  expect((await stack.webhook(webhookId)).active).toBe(false);

  const activated = await asked('activateWebhook', { webhookId, reason: 'the shop is back', by: 'anna' });
  const sentence = `Webhook ${webhookId} is active: held deliveries continue.`;
  expect(activated.result).toEqual({ sentence, webhookId });
  expect((await stack.webhook(webhookId)).active).toBe(true);
  expect(stack.logged).toContainEqual(
    expect.objectContaining({
      msg: 'an operator activates a webhook',
      webhookId,
      by: 'anna',
      reason: 'the shop is back',
    }),
  );

  const counted = await asked('recoverMissed', { webhookId, since, dryRun: true });
  expect(counted.result).toMatchObject({
    sentence: expect.stringMatching(/^To be recovered: 2 events, from /),
  });
  const before = receiver.requests.length;
  const recovered = await asked('recoverMissed', { webhookId, since });
  expect(recovered.result).toMatchObject({
    sentence: expect.stringMatching(/^The recovery of 2 events, from .+, has begun: the workflow recovery\//),
    webhookId,
  });
  const [row] = await stack.sql<{ id: string }[]>`select id from recoveries where webhook_id = ${webhookId}`;
  const recoveryId = row?.id ?? '';
  expect(recovered.result).toMatchObject({ recoveryId });
  await stack.until(
    'the recovery to be completed',
    async () => (await readRecovery(stack.sql, recoveryId))?.state === 'completed',
  );
  const orders = receiver.requests.slice(before).map(({ text }) => JSON.parse(text).eshopOrderId);
  expect(orders.sort()).toEqual(['10001', '10002']);
  // The list of a webhook's workflows shows who asked for what.
  expect((await recovered.handle.describe()).typedSearchAttributes.getAll()).toContainEqual(
    expect.objectContaining({ value: webhookId }),
  );
});

test('asked again, nothing is done twice, and the answer says so', async () => {
  ({ id: webhookId } = await stack.createWebhook(receiver.url));
  expect((await asked('activateWebhook', { webhookId })).result).toMatchObject({
    sentence: `Webhook ${webhookId} is already active: nothing was changed.`,
  });
  receiver.respond({ hang: 'headers' });
  const missed = await stack.fireOne('10003');
  await stack.sql`update deliveries set state = 'failed', finished_at = now() where id = ${missed}`;
  const since = new Date(Date.now() - 60_000).toISOString();
  const first = await asked('recoverMissed', { webhookId, since });
  const second = await asked('recoverMissed', { webhookId, since });
  expect(second.result).toMatchObject({ sentence: expect.stringContaining('is under way') });
  const ids = await stack.sql<{ id: string }[]>`select id from recoveries where webhook_id = ${webhookId}`;
  expect(ids).toHaveLength(1);
  for (const { result } of [first, second]) expect(result).toMatchObject({ recoveryId: ids[0]?.id });
  receiver.respond({ status: 200 });
});

const TAKES = 'Takes {"webhookId": 7, "reason": "…", "by": "…"}, the latter two optional: ';
const SOON = new Date(Date.now() + 3_600_000).toISOString();
test.each<[string, unknown, string]>([
  ['activateWebhook', undefined, `${TAKES}the input must be an object.`],
  ['activateWebhook', 7, `${TAKES}the input must be an object.`],
  ['activateWebhook', {}, `${TAKES}webhookId is missing, or not known.`],
  ['activateWebhook', { webhookId: '7' }, `${TAKES}webhookId must be a number.`],
  ['activateWebhook', { webhookId: 7, why: 'x' }, `${TAKES}why is missing, or not known.`],
  ['testWebhook', { webhookId: 0 }, `${TAKES}webhookId must be at least 1.`],
  ['testWebhook', { webhookId: 2_000_000_000 }, 'There is no webhook 2000000000, or it is deleted.'],
  ['recoverMissed', { webhookId: 7 }, 'since is missing, or not known.'],
  [
    'recoverMissed',
    { webhookId: 7, since: 'yesterday' },
    'since must be a time such as "2026-11-20T19:33:00Z".',
  ],
  ['recoverMissed', { webhookId: 7, since: SOON }, 'since must not be in the future.'],
  [
    'recoverMissed',
    { webhookId: 7, since: '2026-11-20', until: '2026-11-19' },
    'until must be later than since.',
  ],
  [
    'recoverMissed',
    { webhookId: 7, since: '2026-11-20', include: ['all'] },
    'include.0 must be one of failed, expired, canceled, missed.',
  ],
])('%s %j is refused with a sentence that says why', async (type, typed, why) => {
  const { refused, handle } = await asked(type, typed);
  expect(refused).toContain(why);
  expect((await handle.describe()).status.name).toBe('FAILED');
});
