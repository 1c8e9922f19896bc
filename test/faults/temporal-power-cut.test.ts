/**
 * A power cut that loses the last moments of the embedded Temporal, which does not sync every transaction to disk, but nothing of
 * Postgres, which does.
 */
import { afterEach, expect, test } from 'vitest';
import type { EventType } from '../../src/domain/event-types.ts';
import { type DeliveryStack, startDeliveryStack } from '../support/delivery-stack.ts';
import { nightly } from '../support/nightly.ts';
import { createReceiver, type Receiver } from '../support/receiver.ts';
import { startTemporalOnDisk } from '../support/temporal-on-disk.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function startOnDisk() {
  const temporal = await startTemporalOnDisk();
  cleanups.push(() => temporal.stop());
  return temporal;
}

async function receiverAnd(stack: DeliveryStack, type: EventType, status: number) {
  const receiver = await createReceiver({ status });
  cleanups.push(() => receiver.close());
  const webhook = await stack.createWebhook(receiver.url, { type });
  const fire = async () => {
    const [id = ''] = await stack.fire('10001', { eshopOrderId: '10001' }, type);
    return id;
  };
  return { receiver, webhook, fire };
}
const numbers = ({ requests }: Receiver) =>
  requests.map(({ headers }) => Number(headers['x-service-attempt']));
const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

test('what happened in those moments is not repeated, and what was accepted in them arrives', async () => {
  const temporal = await startOnDisk();
  const stack = await startDeliveryStack('power-cut', {
    temporalAddress: temporal.address,
    policy: {
      initialIntervalMs: 500,
      coefficient: 1,
      maxRetries: 1_000,
      windowMs: 3_600_000,
      attemptTimeoutMs: 20_000,
    },
    timings: { reconcileIntervalMs: 200, reconcileGraceMs: 1_000 },
  });
  cleanups.push(() => stack.stop());
  const inFlight = await receiverAnd(stack, 'CREATE_ORDER', 200);
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  inFlight.receiver.respond(() => answered.then(() => ({ status: 200 })));
  const failing = await receiverAnd(stack, 'UPDATE_ORDER', 503);
  const inFlightId = await inFlight.fire();
  const failingId = await failing.fire();
  await inFlight.receiver.waitFor(1);
  await failing.receiver.waitFor(1);
  const held = await receiverAnd(stack, 'CREATE_PRODUCT', 503);
  const heldId = await held.fire();
  await held.receiver.waitFor(1);
  await stack.changeWebhook(held.webhook.id, { active: false });
  await stack.untilHeld(heldId);

  await temporal.flushed();
  answer();
  await stack.untilState(inFlightId, 'delivered');
  held.receiver.respond({ status: 200 });
  await stack.changeWebhook(held.webhook.id, { active: true });
  await stack.untilState(heldId, 'delivered');
  await failing.receiver.waitFor(4);
  const newAndDelivered = await receiverAnd(stack, 'CREATE_RETURN', 200);
  const newAndFailing = await receiverAnd(stack, 'UPDATE_RETURN', 503);
  const newIds = [await newAndDelivered.fire(), await newAndFailing.fire()];
  await stack.untilState(newIds[0] ?? '', 'delivered');
  await newAndFailing.receiver.waitFor(2);
  await temporal.cutPower();
  // The power cut also clears the worker's cache of workflows.
  await stack.stopWorker();
  failing.receiver.respond({ status: 200 });
  newAndFailing.receiver.respond({ status: 200 });
  await temporal.start();
  await stack.startWorker();

  for (const id of [failingId, ...newIds]) await stack.untilState(id, 'delivered');
  for (const id of [inFlightId, failingId, heldId]) expect(await stack.untilClosed(id)).toBe('COMPLETED');
  expect(numbers(inFlight.receiver)).toEqual([1]);
  expect(numbers(newAndDelivered.receiver)).toEqual([1]);
  for (const { receiver } of [failing, held, newAndFailing]) {
    expect(numbers(receiver)).toEqual(upTo(receiver.requests.length));
  }
  expect(await stack.mails()).toEqual([]);
});

/** Temporal is set back to an older copy while the worker lives on with newer workflows in its cache. */
async function setBackUnderALivingWorker(noticed: boolean) {
  const temporal = await startOnDisk();
  const stack = await startDeliveryStack('set-back', {
    temporalAddress: temporal.address,
    policy: {
      initialIntervalMs: 500,
      coefficient: 1,
      maxRetries: 1_000,
      windowMs: 3_600_000,
      attemptTimeoutMs: 2_000,
    },
    timings: { reconcileIntervalMs: noticed ? 200 : 5_000, reconcileGraceMs: 1_000 },
  });
  cleanups.push(() => stack.stop());
  const failing = await receiverAnd(stack, 'UPDATE_ORDER', 503);
  const failingId = await failing.fire();
  await failing.receiver.waitFor(1);
  const held = await receiverAnd(stack, 'CREATE_PRODUCT', 503);
  const heldId = await held.fire();
  await held.receiver.waitFor(1);
  await stack.changeWebhook(held.webhook.id, { active: false });
  await stack.untilHeld(heldId);

  await temporal.flushed();
  await stack.changeWebhook(held.webhook.id, { active: true });
  await failing.receiver.waitFor(4);
  await held.receiver.waitFor(4);
  for (let changes = 0; changes < 3; changes += 1) {
    await stack.changeWebhook(failing.webhook.id, { active: false });
    await stack.untilHeld(failingId);
    const made = failing.receiver.requests.length;
    await stack.changeWebhook(failing.webhook.id, { active: true });
    await failing.receiver.waitFor(made + 1);
  }
  const later = await receiverAnd(stack, 'CREATE_RETURN', 503);
  const laterId = await later.fire();
  await later.receiver.waitFor(2);
  await temporal.cutPower();
  if (noticed) {
    await stack.until('it to be missed', async () =>
      stack.logged.some(({ msg }) => msg.startsWith('the reconciler is waiting')),
    );
  }
  await temporal.start();
  await Promise.all(
    [failing, held, later].map(async ({ receiver }) => {
      await receiver.waitFor(receiver.requests.length + 2);
      receiver.respond({ status: 200 });
    }),
  );
  for (const id of [failingId, heldId, laterId]) {
    await stack.untilState(id, 'delivered');
    expect(await stack.untilClosed(id)).toBe('COMPLETED');
  }
  for (const { receiver } of [failing, held, later]) {
    expect(numbers(receiver)).toEqual(upTo(receiver.requests.length));
  }
  expect(await stack.mails()).toEqual([]);
  if (noticed) {
    expect(stack.logged.map(({ msg }) => msg)).toContain(
      'Temporal may have been set back: workers with an empty cache take over',
    );
  }
}

test('set back while a worker lives on: every delivery goes on behind its last attempt', () =>
  setBackUnderALivingWorker(true));

test.runIf(nightly)(
  'set back before anybody noticed that it was away: every delivery goes on all the same',
  () => setBackUnderALivingWorker(false),
);
