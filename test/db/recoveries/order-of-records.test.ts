/** Recoveries for webhooks with an order, whose receivers refuse some events. */
import { expect, test } from 'vitest';
import { createEshop } from '../../../src/db/accounts/eshops.ts';
import { claimDeliveries } from '../../../src/db/outbox/claim.ts';
import { keepOrdering } from '../../../src/db/outbox/keep-ordering.ts';
import { CLASS } from '../../../src/db/outbox/outbox.ts';
import { beginRecovery, readRecovery } from '../../../src/db/recoveries/recoveries.ts';
import { type RecoveryStep, stepRecovery } from '../../../src/db/recoveries/step.ts';
import { transaction } from '../../../src/db/transaction.ts';
import { timeOf } from '../../../src/domain/id-time.ts';
import { fireEvent, fireWithin, loseEvents, recoveredBy } from '../../support/api/recoveries.ts';
import { insertWebhook } from '../../support/database/events.ts';
import { later } from '../../support/later.ts';
import { databaseOfFile } from '../../support/lifetimes.ts';
import { until } from '../../support/until.ts';

const { sql } = await databaseOfFile();
const { eshopId } = await createEshop(sql, { name: 'Shop', email: 'shop@example.test' });

/** Begins a recovery of lost events of these records. */
async function begin(ordering: 'record' | 'latest', entityIds: readonly string[]): Promise<string> {
  const webhookType = 'CREATE_ORDER';
  const webhookId = await insertWebhook(sql, eshopId, webhookType);
  await loseEvents({ sql, eshopId, webhookId }, 'failed', entityIds);
  await sql`
    update events e set sequence = n.sequence
    from (select id, row_number() over (partition by entity_id order by id) as sequence from events) n where n.id = e.id`;
  await sql`update webhooks set ordering = ${ordering} where id = ${webhookId}`;
  const since = new Date(Date.now() - 3_600_000);
  const begun = await beginRecovery(sql, {
    eshopId,
    webhookId,
    since,
    until: null,
    include: ['failed'],
  });
  return begun.recoveryId;
}

/** One step, and the first attempts after it: they fail for records with a matching id. */
async function stepAndAttempt(recoveryId: string, refused: string): Promise<RecoveryStep | null> {
  const step = await stepRecovery(sql, recoveryId);
  const { deliveries } = await claimDeliveries(sql, { class: CLASS.recovered, limit: 500 });
  const ready = await keepOrdering(sql, deliveries);
  await sql`
    update deliveries set dispatched_at = now(), state = case when entity_id like ${refused} then 'retrying' else 'delivered' end
    where id = any(${ready.map(({ id }) => id)}::uuid[])`;
  return step;
}

const times = (count: number, entityId: string) => Array.from({ length: count }, () => entityId);
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `order ${index}`);

test('a refused record delays no other, however many of its events are blocked', async () => {
  const recoveryId = await begin('record', [...times(40, 'refused'), ...numbered(30)]);
  for (let steps = 0; steps < 5; steps += 1) await stepAndAttempt(recoveryId, 'refused');
  const created = await recoveredBy(sql, recoveryId);
  expect(created.filter(({ state }) => state === 'delivered')).toHaveLength(30);
  const recovery = await until('no more events', async () => {
    const step = await stepRecovery(sql, recoveryId);
    return step?.recovery.exhausted === true ? step.recovery : undefined;
  });
  expect(recovery).toMatchObject({ pending: 39, blocked: 39, retrying: 1, failed: 0 });
});

test('with the ordering latest, superseded deliveries do not count as successes of the receiver', async () => {
  const records = numbered(30).flatMap((entityId) => times(4, entityId));
  const recoveryId = await begin('latest', records);
  const sizes: number[] = [];
  for (let steps = 0; steps < 6; steps += 1) {
    const step = await stepAndAttempt(recoveryId, 'order %');
    sizes.push(step?.recovery.created ?? 0);
  }
  expect(sizes).toEqual([20, 40, 60, 80, 81, 82]);
  expect(await readRecovery(sql, recoveryId)).toMatchObject({
    retrying: 21,
    failed: 0,
    superseded: 60,
    rate: null,
  });
});

test('with the ordering latest, a recovery speeds up as long as its receiver accepts', async () => {
  const recoveryId = await begin('latest', times(300, 'busy'));
  const sizes: number[] = [];
  for (let steps = 0; steps < 4; steps += 1) {
    const step = await stepAndAttempt(recoveryId, 'none');
    sizes.push(step?.recovery.created ?? 0);
  }
  expect(sizes).toEqual([20, 60, 140, 300]);
  expect(await readRecovery(sql, recoveryId)).toMatchObject({ failed: 0, superseded: 296 });
});

test('an event committed after the first step is found, and nothing is delivered twice', async () => {
  // Of its own: what other tests fired is missed, too.
  const webhookType = 'UPDATE_ORDER';
  const webhookId = await insertWebhook(sql, eshopId, webhookType);
  await sql`update webhooks set active = false where id = ${webhookId}`;
  const since = new Date(Date.now() - 3_600_000);
  const early = await fireEvent({ sql, eshopId }, 'early', webhookType);
  const [held, commit] = later();
  let writing: Promise<unknown> = held;
  const late = await new Promise<string>((resolve) => {
    writing = transaction(sql, async (tx) => {
      resolve(await fireWithin(tx, eshopId, 'late', webhookType));
      await held;
    });
  });
  await sql`update webhooks set active = true where id = ${webhookId}`;
  const terms = {
    eshopId,
    webhookId,
    since,
    until: null,
    include: ['missed', 'canceled'],
  } as const;
  const { recoveryId } = await beginRecovery(sql, terms);
  const eventIds = async () => (await recoveredBy(sql, recoveryId)).map(({ eventId }) => eventId);
  await stepRecovery(sql, recoveryId);
  expect(await eventIds()).toEqual([early]);
  await sql`update deliveries set state = 'canceled' where recovery_id = ${recoveryId}`;
  // Without the transaction the mark would be past the event by now.
  await until('the mark', async () => Date.now() > timeOf(late).getTime() + 1_500);
  expect((await stepRecovery(sql, recoveryId))?.recovery).toMatchObject({ exhausted: false });
  commit();
  await writing;
  await until('no more events', async () => (await stepRecovery(sql, recoveryId))?.recovery.exhausted);
  expect((await eventIds()).toSorted()).toEqual([early, late].toSorted());
});
