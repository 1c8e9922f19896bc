/**
 * A power cut that takes the last moments from the embedded Temporal, which does not wait for the disk in every
 * transaction, and nothing from Postgres, which does.
 */
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { EventType } from '../../src/domain/event-types.ts';
import { type EmbeddedTemporal, startTemporal } from '../../src/embedded/temporal.ts';
import { findTemporal } from '../../src/embedded/temporal-binary.ts';
import { type DeliveryStack, startDeliveryStack } from '../support/delivery-stack.ts';
import { createReceiver, type Receiver } from '../support/receiver.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A dev server whose disk can be set back. */
async function startOnDisk() {
  const directory = await mkdtemp(join(tmpdir(), 'waybill-power-cut-'));
  cleanups.push(() => rm(directory, { recursive: true, force: true }));
  const binary = await findTemporal({ report: () => {} });
  const databaseFile = join(directory, 'temporal.db');
  let server: EmbeddedTemporal = await startTemporal({ binary, databaseFile, ui: false });
  cleanups.push(() => server.stop());
  const { address, port } = server;
  const files = ['', '-wal'].map((ending) => `${databaseFile}${ending}`);
  const signal = (name: NodeJS.Signals) => process.kill(server.pid() ?? 0, name);
  return {
    address,
    /** What the disk holds now, in the middle of whatever the server does, is what it will hold after the power cut. */
    async flushed() {
      signal('SIGSTOP');
      for (const file of files) await cp(file, `${file}.flushed`);
      signal('SIGCONT');
    },
    async cutPower() {
      signal('SIGKILL');
      await server.stop();
      await rm(`${databaseFile}-shm`, { force: true });
      for (const file of files) await cp(`${file}.flushed`, file);
    },
    async start() {
      server = await startTemporal({ binary, databaseFile, ui: false, preferredPort: port });
      expect(server.port).toBe(port);
    },
  };
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
    policy: { initialIntervalMs: 500, coefficient: 1, windowMs: 600_000, attemptTimeoutMs: 20_000 },
    reconciling: { intervalMs: 200, graceMs: 1_000 },
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
  // Whatever it remembers of workflows goes with the power.
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
}, 150_000);
