/** A backlog that drains while some of the receivers are slow, and while some fail. */
import { ratio } from '../criteria.ts';
import { allPrompt, drain, worst } from '../drain.ts';
import { type Bench, mainSetting, type Section } from './section.ts';

const PATIENCE_MS = 3_600_000;
/** Drained first, so that compilers, caches and connections are warm. */
const WARM_UP = 3_000;
/** When retries of failed deliveries are due, by default. */
const FIRST_WAIT_MS = 25_000;

const promptName = 'all receivers prompt: per second';
const slowName = '2 % of the receivers take 3 s: per second';
const failingName = '5 % of the receivers fail: per second';

export const receivers: Section = {
  name: 'receivers',
  about: 'a backlog that drains, with slow and with failing receivers',
  criteria: [
    ratio('throughput with 2 % slow over that without', slowName, promptName, { least: 0.5 }),
    ratio('throughput with 5 % failing over that without', failingName, promptName, { least: 1 / 3 }),
  ],
  async run(bench: Bench) {
    const setting = mainSetting(bench);
    const stack = await bench.stack();
    await stack.startWorkers({ env: { WORKFLOWS: setting } });
    const deliveries = bench.sizes.backlog;
    for (let run = 0; run < bench.runs; run += 1) {
      const order = { deliveries, warmUp: 0, patienceMs: bench.patience(PATIENCE_MS) };
      bench.say(`${setting}: draining ${deliveries} …`);
      const warmUp = run === 0 ? Math.min(deliveries, WARM_UP) : 0;
      const prompt = await drain(stack, { ...order, warmUp, shape: allPrompt });
      bench.note(promptName, setting, prompt.perSecond);
      bench.say(`${setting}: draining ${deliveries}, 2 % of the receivers slow …`);
      const slow = await drain(stack, { ...order, shape: { ...allPrompt, slow: 2 } });
      bench.note(slowName, setting, slow.perSecond);
      bench.say(`${setting}: draining ${deliveries}, 5 % of the receivers failing …`);
      const failing = await drain(stack, {
        ...order,
        shape: { ...allPrompt, failing: 5 },
        retryAfterMs: FIRST_WAIT_MS,
      });
      bench.note(failingName, setting, failing.perSecond);
      bench.note('  the healthy ones alone', setting, failing.healthyPerSecond);
      bench.note('  second attempts after they are due, p99, s', setting, worst(failing.lateMs) / 1000);
      bench.note('requests repeated, slow or failing', setting, slow.repeats + failing.repeats);
    }
  },
};
