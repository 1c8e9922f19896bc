/** A backlog drained by one, two and four worker processes. */
import { allPrompt, drain } from '../drain.ts';
import type { Bench, Section } from './section.ts';

const COUNTS = [1, 2, 4] as const;
const PATIENCE_MS = 3_600_000;

export const workers: Section = {
  name: 'workers',
  about: 'a backlog drained by 1, 2 and 4 worker processes',
  async run(bench: Bench) {
    const stack = await bench.stack();
    const { backlogEach, backlogGrown } = bench.sizes;
    for (let run = 0; run < bench.runs; run += 1) {
      for (const setting of bench.settings) {
        for (const count of COUNTS) {
          await stack.startWorkers({ count, env: { FIRST_ATTEMPTS: setting } });
          const deliveries = setting === 'each' ? backlogEach : backlogGrown;
          const { perSecond, mostPerSecond, cpu } = await drain(stack, {
            deliveries,
            warmUp: Math.ceil(deliveries / 10),
            shape: allPrompt,
            patienceMs: bench.patience(PATIENCE_MS),
          });
          bench.note(`deliveries per second, ${count} of them`, setting, perSecond);
          bench.note(`  until nine tenths have arrived, ${count} of them`, setting, mostPerSecond);
          bench.note(`CPU per delivery, ${count} of them, ms`, setting, cpu.all ?? Number.NaN);
        }
      }
      await stack.stopWorkers();
    }
  },
};
