/**
 * The controls of the scheduler, each turned off in the scenario that it is made for, compared with all of them on in the same run. A
 * control without an effect here has no reason to stay.
 */
import type { Control } from '../conditions.ts';
import { ratio } from '../criteria.ts';
import { allPrompt, drain } from '../drain.ts';
import type { Stack } from '../stack.ts';
import { percentile } from '../statistics.ts';
import { troubles } from '../troubles.ts';
import { feelBeside, openTrial } from './neighbours.ts';
import { type Bench, mainSetting, type Section, type Setting } from './section.ts';

const PATIENCE_MS = 600_000;
const WARM_UP = 500;

/** A measurement with and without some controls. */
interface Scenario {
  readonly controls: readonly Control[];
  readonly figure: string;
  /** Which way the figure goes when things get worse. */
  readonly worse: 'more' | 'less';
  measure(bench: Bench, stack: Stack, setting: Setting): Promise<number>;
}

/** A neighbour of this trouble, for half as long as in the section of neighbours. */
function beside(name: string, controls: readonly Control[]): Scenario {
  const trouble = troubles.find((one) => one.name === name);
  if (trouble === undefined) throw new Error(`There is no scenario "${name}".`);
  return {
    controls,
    figure: `p95 beside ${name}, ms`,
    worse: 'more',
    async measure(bench, stack, setting) {
      const trial = await openTrial(bench, stack, setting, bench.sizes.trialSeconds / 2);
      const felt = await feelBeside(trial, trouble);
      return percentile(felt.beside.latencies, 95);
    },
  };
}

const scenarios: readonly Scenario[] = [
  {
    controls: ['calm', 'worth a claim'],
    figure: 'a backlog drains, deliveries per second',
    worse: 'less',
    async measure(bench, stack, setting) {
      await stack.startWorkers({ env: { WORKFLOWS: setting } });
      const deliveries = bench.sizes.backlogGrown;
      const warmUp = Math.min(deliveries, WARM_UP);
      const patienceMs = bench.patience(PATIENCE_MS);
      return (await drain(stack, { deliveries, warmUp, shape: allPrompt, patienceMs })).perSecond;
    },
  },
  beside('many webhooks that never answer', ['webhook limit', 'claim ahead']),
  beside('many webhooks that fail after almost two seconds', ['slow receivers']),
  beside('writes and an import, delivered at once', ['in flight', 'ranks']),
  beside('a webhook switched off with many open deliveries', ['pace']),
];

const nameOf = (control: Control, figure: string) => `${control}: ${figure}`;

export const withoutControls: Section = {
  name: 'controls',
  about: 'what gets worse without each control of the scheduler',
  criteria: scenarios.flatMap(({ controls, figure, worse }) =>
    controls.map((control) => {
      const name = nameOf(control, figure);
      // Less than a fifth is within the noise of a run.
      const bound = worse === 'more' ? { least: 1.2 } : { most: 1 / 1.2 };
      return ratio(`${name}: without it, over that with it`, [name, 'without'], name, bound);
    }),
  ),
  async run(bench: Bench) {
    const setting = mainSetting(bench);
    for (let run = 0; run < bench.runs; run += 1) {
      for (const { controls, figure, measure } of scenarios) {
        const asked = controls.filter((control) => control.includes(bench.beside));
        if (asked.length === 0) continue;
        const measured = async (without?: Control) => {
          const stack = await bench.stack(without === undefined ? {} : { without });
          const value = await measure(bench, stack, setting);
          await stack.stop();
          return value;
        };
        const withAll = await measured();
        for (const control of asked) {
          bench.note(nameOf(control, figure), setting, withAll);
          bench.note(nameOf(control, figure), 'without', await measured(control));
        }
      }
    }
  },
};
