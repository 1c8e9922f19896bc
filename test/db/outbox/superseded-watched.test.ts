/**
 * Whatever ends a delivery, the metrics count it, and those behind it that are superseded at the same time. If the
 * latter cannot be settled, what was ended is counted all the same, once.
 */
import pino from 'pino';
import { beforeEach, expect, test } from 'vitest';
import { createDeliverySteps } from '../../../activities/delivery-steps.ts';
import { cannotBePrepared } from '../../../src/attempt/make-attempt.ts';
import { settleOrdering } from '../../../src/db/outbox/keep-ordering.ts';
import { CLASS } from '../../../src/db/outbox/outbox.ts';
import { cancelWithoutWorkflow } from '../../../src/db/outbox/without-workflow.ts';
import { countWindowsLost } from '../../../src/db/overview.ts';
import { createTrackedWorkflows } from '../../../src/reconciler/tracked-workflows.ts';
import { fireDelivery, makeAttempt } from '../../support/database/deliveries.ts';
import { insertShop } from '../../support/database/events.ts';
import { databaseOfFile } from '../../support/lifetimes.ts';
import { workflowIdOf } from '../../support/temporal/workflow-ids.ts';
import { unwatched } from '../../support/unwatched.ts';

let ended: string[];
const { sql } = await databaseOfFile();
beforeEach(() => {
  ended = [];
  sql.notifier.attach({
    wake() {},
    hasRoom: () => false,
    start() {},
    ended: (eventType, as) => void ended.push(`${eventType} ${as}`),
  });
});

const deps = () => ({
  lookAtClock: async () => {},
  sql,
  log: pino({ level: 'silent' }),
  watch: {
    ...unwatched,
    ended: (eventType: string, as: string) => void ended.push(`${eventType} ${as}`),
    deactivated: () => void ended.push('deactivated'),
    alarmed: ({ alarm }: { readonly alarm: string }) => void ended.push(alarm),
  },
});
const lastChance = (deliveryId: string) =>
  cannotBePrepared(deps(), { deliveryId, lastChance: true }, new Error('an unknown key'));

const nothing = async () => {};
const no = async () => false;
/** As the reconciler does when the delivery's workflow has ended. */
async function closeIt(deliveryId: string): Promise<void> {
  const { sql, watch } = deps();
  await sql`update deliveries set dispatched_at = now() where id = ${deliveryId}`;
  const restarter = {
    restart: no,
    restartRelease: no,
    restartRecovery: no,
    signalReleaseChanged: nothing,
    signalRecoveryChanged: nothing,
    signalWebhookChanged: nothing,
  };
  const records = createTrackedWorkflows({ sql, restarter, graceMs: 0, watch });
  for (const found of await records.withWorkflows([await workflowIdOf(sql, deliveryId)]))
    await found.endedByOperator();
}

/** A delivery whose only attempt failed, before two newer ones of its record, of which only the latest counts. */
async function front(): Promise<string> {
  const { eshopId, webhookId } = await insertShop(sql);
  const [id = ''] = [
    await fireDelivery(sql, { eshopId, webhookId }),
    await fireDelivery(sql, { eshopId, webhookId }),
    await fireDelivery(sql, { eshopId, webhookId }),
  ];
  await sql`
    update deliveries d set sequence = n.number, class = case when d.id = ${id} then class else ${CLASS.blocked}::smallint end
    from (select id, row_number() over (order by id) as number from deliveries where webhook_id = ${webhookId}) n where n.id = d.id`;
  await sql`update webhooks set ordering = 'latest' where id = ${webhookId}`;
  await makeAttempt(sql, id, 1);
  return id;
}

test.each<[string, string, (deliveryId: string) => Promise<unknown>]>([
  ['the retries are spent', 'failed', (id) => createDeliverySteps(deps()).compensate(id)],
  [
    'it is canceled',
    'canceled',
    (deliveryId) =>
      createDeliverySteps(deps()).closeDelivery({ deliveryId, state: 'canceled', alarm: false }),
  ],
  ['the workflow was ended in Temporal', 'canceled', closeIt],
  ['it cannot be prepared', 'expired', lastChance],
])('the end and the superseded delivery behind it are counted: %s', async (_, state, end) => {
  await end(await front());
  expect(ended.filter((each) => each.startsWith('CREATE_ORDER')).toSorted()).toEqual([
    `CREATE_ORDER ${state}`,
    'CREATE_ORDER superseded',
  ]);
});

test('deliveries of a deleted webhook are canceled, and none is superseded', async () => {
  await front();
  const [webhook] = await sql<{ eshopId: number; id: number }[]>`
    update webhooks set deleted_at = now() where id = (select max(id) from webhooks) returning eshop_id, id`;
  if (webhook === undefined) throw new Error('no webhook');
  await settleOrdering(sql, { eshopId: webhook.eshopId });
  expect(ended).toEqual([]);
  expect(await cancelWithoutWorkflow(sql, { eshopId: webhook.eshopId, webhookId: webhook.id })).toHaveLength(
    3,
  );
});

test.each<[string, string[], (deliveryId: string) => Promise<unknown>]>([
  [
    'the retries are spent',
    ['CREATE_ORDER failed', 'deactivated'],
    (id) => createDeliverySteps(deps()).compensate(id),
  ],
  [
    'the window was lost',
    ['CREATE_ORDER expired', 'windowLost'],
    (deliveryId) => createDeliverySteps(deps()).closeDelivery({ deliveryId, state: 'expired', alarm: true }),
  ],
  ['it cannot be prepared', ['CREATE_ORDER expired', 'windowLost'], lastChance],
])('the end is counted once even if those behind it cannot be settled: %s', async (_, reported, end) => {
  const before = await countWindowsLost(sql);
  const id = await front();
  await sql`
    create or replace function refuse() returns trigger language plpgsql as $$ begin raise 'cannot be settled'; end $$`;
  await sql`
    create trigger refuse before update on deliveries for each row when (old.class = 6) execute function refuse()`;
  try {
    // Its activity may be run again.
    await end(id);
    await end(id);
  } finally {
    await sql`drop trigger refuse on deliveries`;
  }
  expect(ended.toSorted()).toEqual(reported);
  expect(await countWindowsLost(sql)).toBe(before + (reported.includes('windowLost') ? 1 : 0));
});
