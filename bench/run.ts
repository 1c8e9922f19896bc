/** Runs sections one after the other, each on its own stacks. */
import { createShutdown, type Shutdown } from '../src/lib/shutdown.ts';
import type { Conditions } from './conditions.ts';
import type { Bench, Section } from './sections/section.ts';
import type { Sheet } from './sheet.ts';
import { startStack } from './stack.ts';

/** The options that all sections share. */
export interface RunOptions extends Pick<Bench, 'sizes' | 'runs' | 'settings' | 'scenario' | 'say'> {
  readonly sheet: Sheet;
  readonly shutdown: Shutdown;
  readonly conditions: Conditions;
  /** On the clock of `performance.now()`. */
  readonly endsAt: number;
}

/** @returns the measurements that failed, and why */
export async function runSections(sections: readonly Section[], options: RunOptions): Promise<string[]> {
  const failures: string[] = [];
  for (const section of sections) {
    const say = (text: string) => options.say(`${section.name}: ${text}`);
    const own = createShutdown(say);
    await options.shutdown.add(own.stop, true);
    try {
      await inTime(section.run(benchFor(section, options, own, say)), options.endsAt);
    } catch (error) {
      if (options.shutdown.signal.aborted) return failures;
      const text = error instanceof Error ? error.message : String(error);
      say(`failed: ${error instanceof Error ? error.stack : text}`);
      failures.push(`${section.name}: ${text}`);
    }
    await own.stop();
  }
  return failures;
}

/** How long a section gets to report that its time is over, in milliseconds. */
const GRACE_MS = 30_000;

/** A section that has not ended by then fails when its stacks are stopped. */
async function inTime(running: Promise<void>, endsAt: number): Promise<void> {
  running.catch(() => {});
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(OVER)), endsAt - performance.now() + GRACE_MS);
  });
  await Promise.race([running, over]).finally(() => clearTimeout(timer));
}
const OVER = 'the time for all is over.';

function benchFor(section: Section, options: RunOptions, own: Shutdown, say: (text: string) => void): Bench {
  const { sheet, conditions, endsAt } = options;
  return {
    ...options,
    say,
    stack: () => own.starting(startStack(say, conditions), (stack) => stack.stop(), true),
    note(name, column, value) {
      sheet.note(section.name, name, column, value);
      say(`${name}, ${column}: ${value.toPrecision(4)}`);
    },
    patience(wantedMs) {
      const left = endsAt - performance.now();
      if (left <= 0) throw new Error(OVER);
      return Math.min(wantedMs, left);
    },
  };
}
