/** What a pooler between Waybill and Postgres costs: the same calm and the same rush, without it and with it. */
import { ratio } from '../criteria.ts';
import { allPrompt, drain } from '../drain.ts';
import { firstDelivery, openLine } from '../rounds.ts';
import { percentile } from '../statistics.ts';
import { feel } from '../trial.ts';
import { type Bench, mainSetting, type Section } from './section.ts';

const PER_SECOND = 10;
const PATIENCE_MS = 600_000;
/** Drained before the measurement. */
const WARM_UP = 3_000;

const calmName = `request to first byte at ${PER_SECOND} orders per second, p50, ms`;
const rushName = 'backlog: deliveries per second';

export const pooler: Section = {
  name: 'pooler',
  about: 'a calm and a rush, without and with PgBouncer in transaction mode, where it is installed',
  criteria: [
    ratio('calm: p50 behind a pooler over that without', [calmName, 'pooler'], calmName, { most: 1.3 }),
    ratio('rush: throughput behind a pooler over that without', [rushName, 'pooler'], rushName, {
      least: 0.7,
    }),
  ],
  async run(bench: Bench) {
    const { sizes } = bench;
    const setting = mainSetting(bench);
    for (let run = 0; run < bench.runs; run += 1) {
      for (const column of [setting, 'pooler'] as const) {
        const stack = await bench.stack({ pooler: column === 'pooler' });
        await stack.startWorkers({ env: { WORKFLOWS: setting } });
        const line = await openLine(stack);
        await firstDelivery(line);
        const pace = { perSecond: PER_SECOND, patienceMs: bench.patience(PATIENCE_MS) };
        await feel(stack, line, { ...pace, seconds: Math.min(5, sizes.steadySeconds) });
        const { fromRequest } = await feel(stack, line, { ...pace, seconds: sizes.steadySeconds });
        bench.note(calmName, column, percentile(fromRequest, 50));
        bench.note('  p95, ms', column, percentile(fromRequest, 95));
        const { perSecond, cpu } = await drain(stack, {
          deliveries: sizes.backlog,
          warmUp: Math.min(WARM_UP, sizes.backlog),
          shape: allPrompt,
          patienceMs: bench.patience(PATIENCE_MS),
        });
        bench.note(rushName, column, perSecond);
        bench.note('backlog: CPU per delivery without the pooler’s own, ms', column, cpu.all ?? Number.NaN);
        await stack.stop();
      }
    }
  },
};
