/** Background calls: each kind makes a few, then pauses for a tick (docs/decisions/0017-bounds-are-found.md). */
import { beforeEach, expect, test } from 'vitest';
import { createEshop } from '../../../src/db/accounts/eshops.ts';
import { enqueueReleaseChange } from '../../../src/db/outbox/changes.ts';
import { CLASS } from '../../../src/db/outbox/outbox.ts';
import { transaction } from '../../../src/db/transaction.ts';
import { deleteWebhook } from '../../../src/db/webhooks/change.ts';
import type { RelayLoop } from '../../../src/relay/classes.ts';
import type { TestDatabase } from '../../support/database/database.ts';
import { insertWebhook } from '../../support/database/events.ts';
import { databaseOfTest } from '../../support/lifetimes.ts';
import { fireMany, relayTo } from '../../support/temporal/relay.ts';
import { until } from '../../support/until.ts';

const WAITING = 12;
const PER_TICK = 5;
/** Longer than the test: what comes after it never comes. */
const TICK_MS = 3_600_000;
/** The passes of a loop that polls at the same time. */
const PASSES = 10;

let database: TestDatabase;
let eshopId: number;
let webhookId: number;

beforeEach(async () => {
  database = await databaseOfTest();
  ({ eshopId } = await createEshop(database.sql, { name: 'Mugs', email: 'mugs@shop.example' }));
  webhookId = await insertWebhook(database.sql, eshopId, 'CREATE_ORDER');
});

async function unstarted(): Promise<void> {
  await fireMany({ sql: database.sql, eshopId }, WAITING);
  await database.sql`update deliveries set class = ${CLASS.undelivered}`;
}

async function changed(): Promise<void> {
  await fireMany({ sql: database.sql, eshopId }, WAITING);
  await database.sql`update deliveries set dispatched_at = now()`;
  await deleteWebhook(database.sql, eshopId, webhookId);
}

async function moved(): Promise<void> {
  await transaction(database.sql, async (tx) => {
    for (let index = 0; index < WAITING; index += 1)
      await enqueueReleaseChange(tx, eshopId, `order ${index}`);
  });
}

test.each<[string, RelayLoop, () => Promise<void>]>([
  ['unstarted workflows', 'undelivered', unstarted],
  ['deliveries signaled about a change', 'webhooks', changed],
  ['timers of pre-orders', 'releases', moved],
])('background work pauses after a few calls: %s', async (_, loop, prepare) => {
  await prepare();
  let calls = 0;
  let pauses = 0;
  let polls = 0;
  const call = async () => {
    calls += 1;
  };
  const { relay } = relayTo(
    database,
    { startDelivery: call, signalWebhookChanged: call, signalReleaseChanged: call },
    {
      scheduler: { backgroundPerTick: PER_TICK, tickMs: TICK_MS, pollMs: 20 },
      onPass(which, result) {
        if (which === loop && result === 'later') pauses += 1;
        if (which === 'recoveries' && pauses > 0) polls += 1;
      },
    },
  );
  try {
    await until('passes of another loop after the first pause', async () => polls >= PASSES);
  } finally {
    await relay.stop();
  }
  expect({ calls, pauses }).toEqual({ calls: PER_TICK, pauses: 1 });
});
