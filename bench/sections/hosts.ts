/** One host with several webhooks, or one that closes its connections: trouble at one webhook must not harm another. */
import { setTimeout as sleep } from 'node:timers/promises';
import { figure } from '../criteria.ts';
import { firstDelivery, openLine, sendFlatOut, sendSteadily } from '../rounds.ts';
import type { Stack } from '../stack.ts';
import { percentile } from '../statistics.ts';
import { untilNone } from '../until-none.ts';
import { type Bench, mainSetting, type Section } from './section.ts';

const CHANGES = 40;
const CHANGES_SECONDS = 6;
const BURSTS = 3;
const OF_A_BURST = 100;
/** The time between two bursts, in milliseconds: connections are kept for longer. */
const PAUSE_MS = 1_000;
const PATIENCE_MS = 120_000;

const besideHanging = 'beside a webhook of the same host that hangs: COMMIT to attempt, p95, ms';
const undeliveredName = '  of them undelivered';
const failedFirstName = 'a receiver that closes its connections unannounced: failed first attempts';

export const hosts: Section = {
  name: 'hosts',
  about:
    'a healthy webhook beside one of the same host that hangs, and a receiver that closes its connections',
  criteria: [
    figure('a healthy webhook beside one of its host that hangs: p95, ms', besideHanging, { most: 2_000 }),
    figure('  of its deliveries undelivered', undeliveredName, { most: 0 }),
    figure('a receiver that closes its connections: failed first attempts', failedFirstName, { most: 0 }),
  ],
  async run(bench: Bench) {
    const setting = mainSetting(bench);
    for (let run = 0; run < bench.runs; run += 1) {
      const stack = await bench.stack();
      await stack.startWorkers({ env: { WORKFLOWS: setting } });
      const warm = await openLine(stack);
      await firstDelivery(warm);

      const shop = await stack.openShop();
      const receiver = await stack.startReceiver();
      const healthy = await shop.createWebhook('CREATE_ORDER', `${receiver.url}/closing/orders`);
      await shop.createWebhook('CREATE_ORDER', `${receiver.url}/silent/orders`);
      await sendSteadily(shop, { orders: CHANGES, perSecond: CHANGES / CHANGES_SECONDS });
      await untilDelivered(stack, healthy, bench.patience(PATIENCE_MS)).catch((error: Error) =>
        bench.say(error.message),
      );
      const delivered = await stack.sql<{ ms: number }[]>`
        select extract(epoch from a.started_at - pg_xact_commit_timestamp(e.xmin))::float8 * 1000 as ms
        from deliveries d join events e on e.id = d.event_id join attempts a on a.delivery_id = d.id and a.outcome = 'success'
        where d.webhook_id = ${healthy}`;
      bench.note(
        besideHanging,
        setting,
        percentile(
          delivered.map(({ ms }) => ms),
          95,
        ),
      );
      bench.note(undeliveredName, setting, CHANGES - delivered.length);

      const closing = await stack.openShop();
      const closed = await stack.startReceiver();
      const webhookId = await closing.createWebhook('CREATE_ORDER', `${closed.url}/closing/orders`);
      for (let burst = 0; burst < BURSTS; burst += 1) {
        await sendFlatOut(closing, OF_A_BURST, OF_A_BURST);
        await closed.arrivals(OF_A_BURST, bench.patience(PATIENCE_MS));
        await sleep(PAUSE_MS);
      }
      const [row] = await stack.sql<{ failed: number; of: number }[]>`
        select (count(*) filter (where a.outcome is distinct from 'success'))::int as failed, count(*)::int as of
        from attempts a join deliveries d on d.id = a.delivery_id where d.webhook_id = ${webhookId} and a.number = 1`;
      bench.note(failedFirstName, setting, row?.failed ?? Number.NaN);
      bench.note('  of first attempts', setting, row?.of ?? Number.NaN);
      await stack.stop();
    }
  },
};

/** @throws Error if it takes longer */
async function untilDelivered({ sql }: Stack, webhookId: number, patienceMs: number): Promise<void> {
  await untilNone('deliveries of the healthy webhook that were not delivered', patienceMs, async () => {
    const [row] = await sql<{ left: number }[]>`
      select count(*)::int as left from deliveries where webhook_id = ${webhookId} and state <> 'delivered'`;
    return row?.left;
  });
}
