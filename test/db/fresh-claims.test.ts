/**
 * What the claims of fresh deliveries say of what they left: a recovery goes on as soon as they leave nothing. And how many are started
 * of those that batches handed back.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { expect, type TestContext, test } from 'vitest';
import { createSlots, type Slots } from '../../src/attempt/slots.ts';
import { createEshop } from '../../src/db/eshops.ts';
import { UNBOUNDED } from '../../src/db/outbox/claim.ts';
import type { Pool } from '../../src/db/pool.ts';
import { dispatchBatch } from '../../src/relay/batches.ts';
import { type DeliveriesDeps, dispatchDeliveries } from '../../src/relay/deliveries.ts';
import { createHandBackPace } from '../../src/relay/hand-back-pace.ts';
import { dispatchHandedBack } from '../../src/relay/handed-back.ts';
import { createImports } from '../../src/relay/imports.ts';
import { createLane } from '../../src/relay/lane.ts';
import { createPace } from '../../src/relay/pace.ts';
import { createPrecedence } from '../../src/relay/precedence.ts';
import { createTestDatabase } from '../support/database.ts';
import { insertWebhook } from '../support/events.ts';
import { fireMany } from '../support/relay.ts';

const SLOTS = 256;

async function relay(
  { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
  slots: Slots = createSlots(SLOTS),
) {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const { sql } = database;
  const { eshopId } = await createEshop(sql, { name: 'Mugs', email: 'mugs@shop.example' });
  await insertWebhook(sql, eshopId, 'CREATE_ORDER');
  const deps: DeliveriesDeps = {
    sql,
    dispatcher: {
      async startDelivery() {},
      async signalWebhookChanged() {},
      async signalAttemptFailed() {},
      async signalReleaseChanged() {},
    },
    starter: { startBatch: async () => true },
    checkBatch: async () => {},
    slots,
    limits: () => UNBOUNDED,
    batchLimits: () => UNBOUNDED,
    imports: createImports(() => 1),
    log: pino({ level: 'silent' }),
    stopping: new AbortController().signal,
    onTaken() {},
  };
  const precedence = createPrecedence(() => 0);
  return { deps, precedence, eshopId, fire: (count: number) => fireMany({ sql, eshopId }, count) };
}

/** Another e-shop, and what starts batches: it notes how many deliveries each has of the first and of the other. */
async function besideAnother(sql: Pool, eshopId: number) {
  const other = await createEshop(sql, { name: 'Cups', email: 'cups@shop.example' });
  await insertWebhook(sql, other.eshopId, 'CREATE_ORDER');
  const batches: number[][] = [];
  const starter = {
    async startBatch(_id: string, deliveries: readonly { readonly eshopId: number }[]) {
      const of = (id: number) => deliveries.filter((each) => each.eshopId === id).length;
      batches.push([of(eshopId), of(other.eshopId)]);
      return true;
    },
  };
  return { other, batches, starter };
}

test('of a trickle a batch leaves nothing', async (context) => {
  const { deps, precedence, fire } = await relay(context);
  await fire(3);
  await dispatchBatch(deps, createLane('batch'), precedence);
  expect(precedence.isOver()).toBe(true);
});

test('of a rush a batch leaves something', async (context) => {
  const { deps, precedence, fire } = await relay(context);
  await fire(600);
  await dispatchBatch(deps, createLane('batch'), precedence);
  expect(precedence.isOver()).toBe(false);
  // The first one has been made by then.
  await dispatchBatch({ ...deps, slots: createSlots(SLOTS) }, createLane('batch'), precedence);
  expect(precedence.isOver()).toBe(true);
});

test('once an e-shop that imports has had its share, batches are made of what others have', async (context) => {
  const { deps, precedence, eshopId, fire } = await relay(context);
  const { other, batches, starter } = await besideAnother(deps.sql, eshopId);
  const imports = createImports(
    () => 0,
    () => 0,
  );
  imports.heard(eshopId);
  const lane = createLane('auto');
  lane.claimed({ waitedMs: 2_000, more: true, many: true, late: false, keptMs: 0 });
  // Those before have been made by then.
  const next = () =>
    dispatchBatch({ ...deps, slots: createSlots(SLOTS), starter, imports }, lane, precedence);
  await fire(700);
  await next();
  await fireMany({ sql: deps.sql, eshopId: other.eshopId }, 3);
  await next();
  // Looked for at intervals: an import wakes the relay with every transaction.
  expect(await next()).toBe(100);
  await next();
  // What gives way to the import waits: it is still a rush, and recoveries stay behind it.
  expect(lane.rushing()).toBe(true);
  expect(precedence.isOver()).toBe(false);
  expect(batches).toEqual([
    [250, 0],
    [0, 3],
  ]);
});

test('while a batch is being made, who has hardly anything under way gets a small one of its own, now and then', async (context) => {
  let now = 0;
  const slots = createSlots(SLOTS, undefined, () => now);
  const { deps, precedence, eshopId, fire } = await relay(context, slots);
  const { other, batches, starter } = await besideAnother(deps.sql, eshopId);
  const next = () => dispatchBatch({ ...deps, starter }, createLane('batch'), precedence);
  await fire(600);
  await next();
  expect(batches).toEqual([[500, 0]]);
  await fireMany({ sql: deps.sql, eshopId: other.eshopId }, 3);
  await next();
  expect(batches).toHaveLength(1);
  now = 150;
  await next();
  expect(batches).toEqual([
    [500, 0],
    [0, 3],
  ]);
  await fireMany({ sql: deps.sql, eshopId: other.eshopId }, 1);
  await next();
  expect(batches).toHaveLength(2);
  expect(precedence.isOver()).toBe(false);
});

test('while there is no room for a batch, something may wait', async (context) => {
  const { deps, precedence } = await relay(context, createSlots(1));
  precedence.claimed(false);
  await dispatchBatch(deps, createLane('batch'), precedence);
  expect(precedence.isOver()).toBe(false);
});

test('deliveries that get their own workflows: as many as may be handed over, and whether more wait', async (context) => {
  const { deps, precedence, fire } = await relay(context);
  const pace = createPace();
  const bound = pace.bound();
  await fire(bound);
  await dispatchDeliveries(deps, pace, createLane('each'), precedence);
  expect(precedence.isOver()).toBe(true);
  // Handed over and not begun: the next one has to wait.
  await fire(1);
  await dispatchDeliveries(deps, pace, createLane('each'), precedence);
  expect(precedence.isOver()).toBe(false);
});

test('how long Temporal took for each start is told to the pace', async (context) => {
  const { deps, precedence, fire } = await relay(context);
  const took: number[] = [];
  const pace = { ...createPace(), started: (callMs: number) => void took.push(callMs) };
  await fire(3);
  const dispatcher = { ...deps.dispatcher, startDelivery: () => sleep(50) };
  await dispatchDeliveries({ ...deps, dispatcher }, pace, createLane('each'), precedence);
  expect(took).toHaveLength(3);
  // A timer may be early by a part of a millisecond.
  for (const callMs of took) expect(callMs).toBeGreaterThanOrEqual(49);
});

test('what batches handed back and is late is started a few at a time, though others feel it', async (context) => {
  const { deps, fire } = await relay(context);
  const started: string[] = [];
  const handedBack = { startHandedBack: async ({ id }: { readonly id: string }) => void started.push(id) };
  const pace = createHandBackPace(() => true);
  for (let round = 0; round < 5; round += 1) pace.next();
  await fire(80);
  const dueIn = (seconds: number) => deps.sql`
    update deliveries set handed_back_at = now(), attempts_made = 1, next_attempt_at = now() + make_interval(secs => ${seconds})`;
  // Taken already, and late only after as long.
  await dueIn(1.9);
  await dispatchHandedBack({ ...deps, handedBack }, pace);
  expect(started).toHaveLength(1);
  await dueIn(0);
  await dispatchHandedBack({ ...deps, handedBack }, pace);
  // Of 79 in ten seconds.
  expect(started).toHaveLength(1 + 2);
});
