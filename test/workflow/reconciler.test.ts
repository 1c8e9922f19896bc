/** Workflows that end, vanish or sleep unnoticed: their deliveries continue, or end as the operator wanted. */
import { afterEach, expect, test } from 'vitest';
import type { StoredState } from '../../src/domain/delivery-state.ts';
import type { RetryPolicy } from '../../src/domain/retry-policy.ts';
import { webhookChangedSignal } from '../../workflows/delivery-types.ts';
import { receiverOfTest, stackOfFile } from '../support/lifetimes.ts';
import type { Receiver } from '../support/servers/receiver.ts';
import { loseWorkflow } from '../support/temporal/lost-workflows.ts';

const stack = await stackOfFile('reconciler', {
  policy: { initialIntervalMs: 600_000, windowMs: 3_600_000 },
  timings: { reconcileIntervalMs: 300, reconcileGraceMs: 1_000 },
  worker: false,
});
afterEach(() => stack.retireWebhooks());

/** A delivery whose first attempt failed and that waits for the second: ten minutes, or as in the policy. */
async function waitingDelivery(policy: Partial<RetryPolicy> = {}) {
  await stack.stopWorker();
  await stack.startWorker({ policy });
  const receiver = await receiverOfTest({ status: 503 });
  const webhook = await stack.createWebhook(receiver.url);
  await stack.untilCalm();
  const id = await stack.fireOne('10001');
  await untilState(id, 'retrying');
  return { receiver, webhook, id };
}
const untilState = (id: string, state: StoredState) => stack.untilState(id, state);
const numbers = ({ requests }: Receiver) => requests.map(({ headers }) => headers['x-service-attempt']);
/** The repairs of a delivery in the log, as far as tests need them. */
const repairsOf = (id: string) =>
  stack.logged
    .filter(({ repaired, deliveryId }) => typeof repaired === 'string' && deliveryId === id)
    .map(({ reason, action }) => `${action}: ${reason}`);
const sweeps = () => stack.logged.filter(({ msg }) => msg === 'checked everything').length;

test('a delivery terminated in Temporal is canceled by an operator at once', async () => {
  const { receiver, webhook, id } = await waitingDelivery();
  await stack.workflow(id).terminate('the receiver has asked us to stop');
  await untilState(id, 'canceled');
  expect(await stack.delivery(id)).toMatchObject({ canceledBy: 'operator', nextAttemptAt: null });
  await stack.until('the log', async () => repairsOf(id).length > 0);
  expect(repairsOf(id)).toEqual(['closed: terminated']);
  expect(stack.logged).toContainEqual(
    expect.objectContaining({ repaired: 'delivery', comment: 'the receiver has asked us to stop' }),
  );
  expect(stack.repaired()).toEqual([{ kind: 'delivery', action: 'closed', reason: 'terminated', count: 1 }]);
  expect(numbers(receiver)).toEqual(['1']);
  expect(await stack.webhook(webhook.id)).toMatchObject({ active: true });
  expect(await stack.mails()).toEqual([]);
});

test('a delivery whose history was lost starts again with its count and remaining wait', async () => {
  const { receiver, id } = await waitingDelivery();
  await stack.stopWorker();
  await loseWorkflow(stack.client, stack.workflowId(id));
  receiver.respond({ status: 200 });
  await stack.startWorker();
  const msg = 'reconciled: 1 delivery started again (no longer in Temporal)';
  await stack.until('the sweep', async () => stack.logged.some((line) => line.msg === msg));
  const waits = async () =>
    (await stack.workflow(id).fetchHistory()).events?.some((event) => event.timerStartedEventAttributes);
  await stack.until('its wait', waits);
  expect(numbers(receiver)).toEqual(['1']);
  expect(repairsOf(id)).toEqual(['startedAgain: missing']);
  expect(stack.logged).toContainEqual(expect.objectContaining({ level: 40, why: 'the worker started', msg }));
  // Its wait of ten minutes is shortened only now.
  const [row] = await stack.sql<{ nextAttemptAt: Date }[]>`
    update deliveries set next_attempt_at = now() + interval '2 s' where id = ${id} returning next_attempt_at`;
  await stack.signal(id, webhookChangedSignal);
  await untilState(id, 'delivered');
  expect(numbers(receiver)).toEqual(['1', '2']);
  expect(receiver.requests[1]?.at).toBeGreaterThanOrEqual((row?.nextAttemptAt.getTime() ?? 0) - 5);
});

test('a delivery whose history is lost under a running worker is started again once late', async () => {
  const swept = sweeps();
  const { receiver, id } = await waitingDelivery();
  await stack.until('the first sweep', async () => sweeps() > swept);
  receiver.respond({ status: 200 });
  await loseWorkflow(stack.client, stack.workflowId(id));
  await stack.sql`update deliveries set next_attempt_at = now() where id = ${id}`;
  await untilState(id, 'delivered');
  expect(numbers(receiver)).toEqual(['1', '2']);
});

test('a delivery never attempted whose history was lost is delivered', async () => {
  const receiver = await receiverOfTest();
  await stack.stopWorker();
  await stack.createWebhook(receiver.url);
  const id = await stack.fireOne('10002');
  // As the relay left it before Temporal lost everything.
  await stack.sql`update deliveries set dispatched_at = now() where id = ${id}`;
  await stack.startWorker();
  await untilState(id, 'delivered');
  expect(numbers(receiver)).toEqual(['1']);
});

test('an open delivery whose workflow has ended (a restored database) is started again', async () => {
  const { receiver, id } = await waitingDelivery({ initialIntervalMs: 1_500 });
  receiver.respond({ status: 200 });
  await untilState(id, 'delivered');
  await stack.untilClosed(id);
  await stack.stopWorker();
  await stack.sql`
    update deliveries set state = 'retrying', attempts_made = 1, next_attempt_at = now(), finished_at = null where id = ${id}`;
  await stack.sql`delete from attempts where delivery_id = ${id} and number > 1`;
  await stack.startWorker();
  await untilState(id, 'delivered');
  expect(numbers(receiver)).toEqual(['1', '2', '2']);
  // On a busy machine its retry may have been late, and woken, before.
  const repairs = () => repairsOf(id).filter((repair) => repair !== 'woken: asleep');
  await stack.until('the log', async () => repairs().length > 0);
  expect(repairs()).toEqual(['startedAgain: ended']);
});

test('a workflow whose delivery was lost in a failover ends at its next step', async () => {
  const { receiver, id } = await waitingDelivery();
  // A workflow is started before the row says so.
  await stack.until('its workflow to be noted', async () => (await stack.delivery(id)).dispatchedAt !== null);
  const workflow = stack.workflow(id);
  await stack.sql`delete from attempts where delivery_id = ${id}`;
  await stack.sql`delete from deliveries where id = ${id}`;
  await workflow.signal(webhookChangedSignal);
  expect(await workflow.result()).toEqual({ state: 'canceled' });
  expect(numbers(receiver)).toEqual(['1']);
});

test('a delivery that a failover returned to the queue continues after its workflow has ended', async () => {
  const { receiver, id } = await waitingDelivery({ initialIntervalMs: 1_500 });
  receiver.respond({ status: 200 });
  await untilState(id, 'delivered');
  await stack.untilClosed(id);
  await stack.stopWorker();
  receiver.respond({ status: 503, headers: { 'retry-after': '90' } });
  await stack.sql`delete from attempts where delivery_id = ${id}`;
  await stack.sql`
    update deliveries set state = 'pending', attempts_made = 0, next_attempt_at = null, finished_at = null, last_attempt_at = null,
      window_started_at = null, dispatched_at = null, class = 0, due_at = now(), check_at = null where id = ${id}`;
  await stack.startWorker();
  await receiver.waitFor(3);
  await untilState(id, 'retrying');
  // "Already started" counts as started, although this workflow has ended.
  await stack.until('its workflow to be noted', async () => (await stack.delivery(id)).dispatchedAt !== null);
  receiver.respond({ status: 200 });
  await stack.sql`update deliveries set next_attempt_at = now() where id = ${id}`;
  await untilState(id, 'delivered');
  expect(numbers(receiver)).toEqual(['1', '2', '1', '2']);
  const sent = new Set(receiver.requests.map(({ headers }) => headers['x-service-delivery']));
  expect(sent).toEqual(new Set([id]));
  await stack.until('the log', async () => repairsOf(id).length > 0);
  expect(repairsOf(id)).toContain('startedAgain: ended');
});

test('a delivery canceled in Temporal but open in a restored database is canceled', async () => {
  const { id } = await waitingDelivery();
  await stack.workflow(id).cancel();
  await untilState(id, 'canceled');
  await stack.untilClosed(id);
  await stack.sql`update deliveries set state = 'retrying', finished_at = null where id = ${id}`;
  await untilState(id, 'canceled');
  await stack.until('the log', async () => repairsOf(id).length > 0);
  expect(repairsOf(id)).toEqual(['closed: canceled']);
});

test('a workflow that sleeps past its time, as if restored, is woken', async () => {
  const { receiver, webhook, id } = await waitingDelivery();
  await stack.changeWebhook(webhook.id, { active: false });
  await stack.untilHeld(id);
  // Deliveries of a change that is being passed on are not checked.
  await stack.until('the change to be passed on', async () => {
    const changes = await stack.sql`select from changes_to_signal where kind = 'webhookChanged' limit 1`;
    return changes.length === 0;
  });
  // It has checked the webhook for the last time.
  await stack.until('its workflow to sleep', async () => {
    const last = (await stack.workflow(id).fetchHistory()).events?.at(-1);
    return Boolean(last?.timerStartedEventAttributes ?? last?.workflowTaskCompletedEventAttributes);
  });
  receiver.respond({ status: 200 });
  // Activated, and the workflow was signaled; but this copy of it is from before.
  await stack.sql`update webhooks set active = true, generation = generation + 1 where id = ${webhook.id}`;
  await stack.sql`
    update deliveries set dispatched_at = now() - interval '1 hour', last_attempt_at = now() - interval '1 hour',
      next_attempt_at = now() - interval '2 seconds', check_at = null where id = ${id}`;
  await untilState(id, 'delivered');
  await stack.until('the log', async () => repairsOf(id).length > 0);
  expect(repairsOf(id)).toEqual(['woken: asleep']);
});

test('held and waiting deliveries are left alone', async () => {
  const { webhook, id } = await waitingDelivery();
  const other = await receiverOfTest({ status: 503 });
  await stack.createWebhook(other.url);
  await stack.changeWebhook(webhook.id, { active: false });
  await stack.untilHeld(id);
  await stack.sql`
    update deliveries set dispatched_at = now() - interval '1 hour', last_attempt_at = now() - interval '1 hour',
      next_attempt_at = now() - interval '30 minutes' where id = ${id}`;
  const waiting = await stack.fireOne('10003');
  await stack.until('its workflow to say so', async () => {
    const { events } = await stack
      .workflow(waiting)
      .fetchHistory()
      .catch(() => ({ events: [] }));
    // Not the timer with which it waits for a slow first attempt: that comes before anything is read.
    const read = events?.findIndex((event) => event.activityTaskCompletedEventAttributes) ?? -1;
    return read >= 0 && events?.slice(read).some((event) => event.timerStartedEventAttributes) === true;
  });
  const lengths = async () =>
    await Promise.all([id, waiting].map(async (each) => (await stack.describe(each))?.historyLength));
  const before = await lengths();
  await stack.until('the held one to be looked at', async () => {
    const [row] = await stack.sql`select check_at from deliveries where id = ${id}`;
    return row?.checkAt !== null;
  });
  // A full sweep over both.
  await stack.stopWorker();
  const swept = sweeps();
  await stack.startWorker();
  await stack.until('a sweep', async () => sweeps() > swept);
  expect(await lengths()).toEqual(before);
  expect([id, waiting].map(repairsOf)).toEqual([[], []]);
});
