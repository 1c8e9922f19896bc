/** A long import of lines with one webhook each: alone, while no worker runs, and delivered at once. */

import type { Setting } from '../../test/support/harness/settings.ts';
import { residentMiB } from '../cpu.ts';
import { figure, ratio } from '../criteria.ts';
import { startCpuClock } from '../measure.ts';
import { MOVEMENT, type Shop } from '../shop.ts';
import type { Stack } from '../stack.ts';
import { untilNone } from '../until-none.ts';
import type { Bench, Section } from './section.ts';

const PATIENCE_MS = 7_200_000;

/** Their names in the table. */
const importNames = {
  alone: 'lines per second, alone',
  beside: 'lines per second, delivered at once',
  delivered: 'time until all are delivered over the import’s own',
} as const;

export const importing: Section = {
  name: 'import',
  about:
    'a long import with one webhook: lines per second alone and delivered at once, and when all are delivered',
  criteria: [
    ratio('lines per second delivered at once over those alone', importNames.beside, importNames.alone, {
      least: 0.6,
    }),
    figure('time until all lines are delivered over that of the import', importNames.delivered, { most: 2 }),
  ],
  async run(bench: Bench) {
    const stack = await bench.stack();
    const { importLines } = bench.sizes;
    for (let run = 0; run < bench.runs; run += 1) {
      for (const setting of bench.settings) {
        const shop = await stack.openShop();
        const webhook = await shop.createWebhook(MOVEMENT, `${stack.receiver.url}/prompt/movements`);
        await shop.importMovements(Math.ceil(importLines / 20));
        await alone(bench, stack, shop, setting);
        await shop.deleteWebhook(webhook);
        await stack.startWorker({ WORKFLOWS: setting });
        await untilCanceled(bench, stack, webhook);
        await delivered(bench, stack, setting);
        await stack.stopWorker();
      }
    }
  },
};

async function alone(bench: Bench, stack: Stack, shop: Shop, setting: Setting): Promise<void> {
  const { importLines } = bench.sizes;
  bench.say(`${importLines} lines alone …`);
  const clock = startCpuClock(stack);
  const { perSecond } = await timed(shop, importLines);
  const { all = Number.NaN } = await clock.stop();
  bench.note(importNames.alone, setting, perSecond);
  bench.note('CPU per line, ms', setting, all / importLines);
  bench.note('API afterwards, MiB', setting, residentMiB(stack.processes().api ?? 0));
}

/** Waits until a worker has canceled the deliveries of the import alone, whose webhook is deleted. */
async function untilCanceled(bench: Bench, { sql }: Stack, webhook: number): Promise<void> {
  await untilNone('deliveries of the deleted webhook', bench.patience(PATIENCE_MS), async () => {
    const left = await sql`
      select from deliveries where webhook_id = ${webhook} and state = 'pending' limit 1`;
    return left.length;
  });
}

async function delivered(bench: Bench, stack: Stack, setting: Setting): Promise<void> {
  const { importLines } = bench.sizes;
  const { receiver } = stack;
  const shop = await stack.openShop();
  await shop.createWebhook(MOVEMENT, `${receiver.url}/prompt/movements`);
  const warmUp = Math.ceil(importLines / 20);
  await shop.importMovements(warmUp);
  await receiver.arrivals(warmUp, bench.patience(PATIENCE_MS));
  bench.say(`${setting}: ${importLines} lines, delivered at once …`);
  const { startedAt, perSecond, seconds } = await timed(shop, importLines);
  bench.note(importNames.beside, setting, perSecond);
  const first = await receiver.arrivals(importLines, bench.patience(PATIENCE_MS));
  const until = ((first.at(-1)?.[1] ?? Number.NaN) - startedAt) / 1000;
  bench.note(importNames.delivered, setting, until / seconds);
  bench.note('all delivered after, s', setting, until);
}

async function timed(shop: Shop, lines: number) {
  const startedAt = performance.timeOrigin + performance.now();
  const taken = await shop.importMovements(lines);
  const seconds = (performance.timeOrigin + performance.now() - startedAt) / 1000;
  return { startedAt, seconds, perSecond: taken / seconds };
}
