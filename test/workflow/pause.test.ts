/** A paused webhook: nothing reaches its receiver, others go on, and afterwards everything is delivered by itself. */
import { afterEach, expect, test } from 'vitest';
import { loadForAttempt } from '../../src/db/deliveries/attempts.ts';
import { pauseWebhook, resumeWebhook } from '../../src/db/webhooks/pause.ts';
import { deliveryStateKey } from '../../workflows/search-attributes.ts';
import { receiverOfFile, stackOfFile } from '../support/lifetimes.ts';

const stack = await stackOfFile('pause', {
  policy: { initialIntervalMs: 40, windowMs: 3_600_000, attemptTimeoutMs: 30_000 },
});
const receiver = await receiverOfFile();
afterEach(() => stack.retireWebhooks());

const requestsTo = (path: string) => receiver.requests.filter((request) => request.path === path);
const attemptsAt = (path: string) => requestsTo(path).map(({ headers }) => headers['x-service-attempt']);
const pause = (id: number, ms: number) =>
  pauseWebhook(stack.sql, stack.eshopId, id, new Date(Date.now() + ms));
/** Its pause is over by the database's clock; nobody is notified. */
const letItEnd = (id: number) => stack.sql`
  update webhooks set pauses = array[tstzrange(paused_at, clock_timestamp())] where id = ${id}`;

test('new deliveries of a paused webhook wait without a workflow, then continue in order', async () => {
  receiver.respond({ status: 200 });
  const webhook = await stack.createWebhook(`${receiver.url}/paused`, { ordering: 'record' });
  await stack.createWebhook(`${receiver.url}/other`, { ordering: 'record' });
  await pause(webhook.id, 3_600_000);
  for (const _ of [1, 2, 3]) await stack.fire('20001');
  await stack.until('the other to have all', async () => requestsTo('/other').length === 3);
  expect(requestsTo('/paused')).toHaveLength(0);
  expect(
    await stack.sql`select from deliveries where webhook_id = ${webhook.id} and dispatched_at is not null`,
  ).toHaveLength(0);
  await letItEnd(webhook.id);
  await stack.until('all of them', async () => requestsTo('/paused').length === 3);
  const sequences = requestsTo('/paused').map(({ headers }) => Number(headers['x-service-sequence']));
  expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
  expect(attemptsAt('/paused')).toEqual(['1', '1', '1']);
});

test('a retry in Temporal waits for the end of the pause, and its window is extended', async () => {
  receiver.respond({ status: 503, headers: { 'retry-after': '61' } });
  const webhook = await stack.createWebhook(`${receiver.url}/retried`);
  const id = await stack.fireOne('20002');
  await stack.until('its workflow', async () => (await stack.delivery(id)).dispatchedAt !== null);
  const windowStart = async () => Number((await loadForAttempt(stack.sql, id))?.windowStartedAt);
  const before = await windowStart();
  await pause(webhook.id, 3_600_000);
  // Its attempt is due.
  await stack.sql`update deliveries set next_attempt_at = now() where id = ${id}`;
  await stack.signal(id, 'webhookChanged');
  await stack.untilHeld(id);
  expect(attemptsAt('/retried')).toEqual(['1']);
  receiver.respond({ status: 200 });
  await resumeWebhook(stack.sql, stack.eshopId, webhook.id);
  stack.notify();
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  expect(attemptsAt('/retried')).toEqual(['1', '2']);
  const [paused] = await stack.sql<{ ms: number }[]>`
    select (extract(epoch from upper(pauses[1]) - lower(pauses[1])) * 1000)::float8 as ms from webhooks
    where id = ${webhook.id}`;
  // In whole milliseconds: each of the two times is rounded.
  expect(Math.abs((await windowStart()) - before - (paused?.ms ?? Infinity))).toBeLessThanOrEqual(1);
});

test('a pause without a signal is noticed by the attempt, which continues by itself afterwards', async () => {
  receiver.respond({ status: 503, headers: { 'retry-after': '61' } });
  const webhook = await stack.createWebhook(`${receiver.url}/unsignaled`);
  const id = await stack.fireOne('20003');
  await stack.until('its workflow', async () => (await stack.delivery(id)).dispatchedAt !== null);
  receiver.respond({ status: 200 });
  await pause(webhook.id, 1_500);
  // The workflow waits for the attempt itself: reset by an operator, it would be made at once.
  await stack.sql`update deliveries set next_attempt_at = now() where id = ${id}`;
  await stack.signal(id, 'webhookChanged');
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  expect(attemptsAt('/unsignaled')).toEqual(['1', '2']);
  const [, second] = await stack.attempts(id);
  const [row] = await stack.sql<
    { pausedUntil: Date }[]
  >`select paused_until from webhooks where id = ${webhook.id}`;
  expect(second?.startedAt.getTime()).toBeGreaterThanOrEqual(row?.pausedUntil.getTime() ?? Infinity);
});

test('a delivery with its retry still far away is not shown as held after the pause', async () => {
  receiver.respond({ status: 503, headers: { 'retry-after': '600' } });
  const webhook = await stack.createWebhook(`${receiver.url}/shown`);
  const id = await stack.fireOne('20004');
  await stack.until('its workflow', async () => (await stack.delivery(id)).dispatchedAt !== null);
  await pause(webhook.id, 3_600_000);
  await stack.signal(id, 'webhookChanged');
  await stack.untilHeld(id);
  await letItEnd(webhook.id);
  await stack.signal(id, 'webhookChanged');
  const state = async () => (await stack.describe(id))?.typedSearchAttributes.get(deliveryStateKey);
  await stack.until('its state', async () => (await state()) === 'retrying');
  const details = async () =>
    (await stack.workflow(id).query<{ currentDetails: string }>('__temporal_workflow_metadata'))
      .currentDetails;
  await stack.until('its headline', async () => (await details()).includes('No longer held.'));
  expect(attemptsAt('/shown')).toEqual(['1']);
});
