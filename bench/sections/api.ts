/**
 * What the API takes alone: orders created and webhooks listed, by how many webhooks there are. No worker runs.
 */

import { startCpuClock } from '../measure.ts';
import { sendFlatOut } from '../rounds.ts';
import type { Shop } from '../shop.ts';
import type { Stack } from '../stack.ts';
import { median } from '../statistics.ts';
import type { Bench, Section } from './section.ts';

const WEBHOOKS = [0, 10, 100] as const;
const CLIENTS = 8;
const COLUMN = 'auto';
/** Calls one after the other, whose median is taken: no more than this. */
const MOST_CALLS = 100;
const WARM_UP = 50;

const createName = (webhooks: number) => `an order created, ${webhooks} webhooks, p50, ms`;
const listName = (webhooks: number) => `webhooks listed, ${webhooks} of them, p50, ms`;
const rateName = (webhooks: number) => `orders per second, ${webhooks} webhooks, ${CLIENTS} clients`;
const cpuName = (webhooks: number) => `CPU per order, ${webhooks} webhooks, ms`;

export const api: Section = {
  name: 'api',
  about: 'an order created and the webhooks listed, with 0, 10 and 100 webhooks; no worker runs',
  async run(bench: Bench) {
    const stack = await bench.stack();
    const shop = await stack.openShop();
    await sendFlatOut(shop, WARM_UP, CLIENTS);
    const ids: number[] = [];
    for (let run = 0; run < bench.runs; run += 1) {
      for (const webhooks of WEBHOOKS) {
        while (ids.length < webhooks)
          ids.push(await shop.createWebhook('CREATE_ORDER', `${stack.receiver.url}/prompt/${ids.length}`));
        await measure(bench, stack, shop, webhooks);
      }
      for (const id of ids.splice(0)) await shop.deleteWebhook(id);
    }
  },
};

async function measure(bench: Bench, stack: Stack, shop: Shop, webhooks: number): Promise<void> {
  bench.patience(1);
  const { apiOrders } = bench.sizes;
  const calls = Math.min(MOST_CALLS, apiOrders);
  bench.note(createName(webhooks), COLUMN, await typical(calls, () => shop.createOrder()));
  bench.note(listName(webhooks), COLUMN, await typical(calls, () => shop.listWebhooks()));
  const clock = startCpuClock(stack);
  const start = performance.now();
  await sendFlatOut(shop, apiOrders, CLIENTS);
  bench.note(rateName(webhooks), COLUMN, (apiOrders / (performance.now() - start)) * 1000);
  const { all = Number.NaN } = await clock.stop();
  bench.note(cpuName(webhooks), COLUMN, all / apiOrders);
}

/** The median of calls one after the other, in milliseconds. */
async function typical(calls: number, call: () => Promise<void>): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < calls; index += 1) {
    const start = performance.now();
    await call();
    times.push(performance.now() - start);
  }
  return median(times);
}
