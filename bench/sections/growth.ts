/** A backlog drained among many stored deliveries. */
import { ratio } from '../criteria.ts';
import { allPrompt, drain } from '../drain.ts';
import type { Stack } from '../stack.ts';
import { createFilling } from '../stored.ts';
import { type Bench, mainSetting, type Section, type Setting } from './section.ts';

const PATIENCE_MS = 3_600_000;

const costName = (stored: string) => `CPU per delivery among ${stored} stored, ms`;
const rateName = (stored: string) => `deliveries per second among ${stored} stored`;
/** The table's names of sizes: the largest requested size is compared with none. */
const none = 'none';
const most = 'the most';

export const growth: Section = {
  name: 'growth',
  about: 'a backlog drained among 0, 1 and 5 million stored deliveries',
  criteria: [
    ratio('CPU per delivery among the most stored over that among none', costName(most), costName(none), {
      most: 1.2,
    }),
  ],
  async run(bench: Bench) {
    const stack = await bench.stack();
    const setting = mainSetting(bench);
    const filling = await createFilling(stack.sql, bench.say);
    await stack.startWorkers({ env: { WORKFLOWS: setting } });
    await measure(bench, stack, setting, none);
    const { stored } = bench.sizes;
    for (const [index, count] of stored.entries()) {
      await filling.fillUp(count);
      await measure(bench, stack, setting, index === stored.length - 1 ? most : String(count));
    }
    bench.note('stored at the most', setting, stored.at(-1) ?? 0);
  },
};

async function measure(bench: Bench, stack: Stack, setting: Setting, stored: string): Promise<void> {
  for (let run = 0; run < bench.runs; run += 1) {
    const deliveries = bench.sizes.backlogGrown;
    const { perSecond, cpu } = await drain(stack, {
      deliveries,
      warmUp: Math.ceil(deliveries / 10),
      shape: allPrompt,
      patienceMs: bench.patience(PATIENCE_MS),
    });
    bench.note(costName(stored), setting, cpu.all ?? Number.NaN);
    bench.note(rateName(stored), setting, perSecond);
  }
}
