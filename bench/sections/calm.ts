/**
 * Orders over the API: how many go through, and how long a delivery takes at a tenth, half and nine tenths of that.
 */

import { firstDelivery, flatOutRound, openLine, steadyRound } from '../rounds.ts';
import { percentile } from '../statistics.ts';
import type { Bench, Section } from './section.ts';

const CLIENTS = 16;
const SHARES = [10, 50, 90] as const;
const PERCENTS = [50, 95, 99] as const;
const PATIENCE_MS = 300_000;
const WARM_UP = 50;

/** What the table and the acceptance call it. */
export const latencyName = (percent: number, share: number) =>
  `COMMIT to first byte at ${share} % of it, p${percent}, ms`;
export const capacityName = `orders delivered per second, ${CLIENTS} clients`;

export const calm: Section = {
  name: 'calm',
  about: 'orders over the API: the most that goes through, and latency from COMMIT at 10, 50 and 90 % of it',
  async run(bench: Bench) {
    const { sizes } = bench;
    const stack = await bench.stack();
    const line = await openLine(stack);
    for (let run = 0; run < bench.runs; run += 1) {
      for (const setting of bench.settings) {
        await stack.startWorkers({ env: { FIRST_ATTEMPTS: setting } });
        await firstDelivery(line);
        const orders = setting === 'each' ? sizes.ordersEach : sizes.orders;
        const flatOut = (count: number) =>
          flatOutRound(stack, line, {
            orders: count,
            clients: CLIENTS,
            patienceMs: bench.patience(PATIENCE_MS),
          });
        await flatOut(Math.min(WARM_UP, orders));
        const { deliveries, seconds, cpuPerDelivery } = await flatOut(orders);
        const capacity = deliveries / seconds;
        bench.note(capacityName, setting, capacity);
        bench.note('CPU per order and delivery, ms', setting, cpuPerDelivery.all ?? Number.NaN);
        for (const share of SHARES) {
          const perSecond = (capacity * share) / 100;
          const round = await steadyRound(stack, line, {
            orders: Math.max(1, Math.round(perSecond * sizes.steadySeconds)),
            perSecond,
            patienceMs: bench.patience(PATIENCE_MS),
          });
          for (const percent of PERCENTS)
            bench.note(latencyName(percent, share), setting, percentile(round.latencies, percent));
        }
      }
    }
  },
};
