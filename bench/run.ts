/**
 * Runs sections one after the other, each on stacks of its own.
 * @module
 */
import { createShutdown, type Shutdown } from '../src/shutdown.ts';
import type { Bench, Section } from './sections/section.ts';
import type { Sheet } from './sheet.ts';
import { startStack } from './stack.ts';

/** What all sections share. */
export interface RunOptions extends Pick<Bench, 'sizes' | 'runs' | 'settings' | 'before' | 'say'> {
  readonly sheet: Sheet;
  readonly shutdown: Shutdown;
  readonly cluster: boolean;
  /** On the clock of `performance.now()`. */
  readonly endsAt: number;
}

/** @returns what could not be measured, and why */
export async function runSections(sections: readonly Section[], options: RunOptions): Promise<string[]> {
  const failures: string[] = [];
  for (const section of sections) {
    const say = (text: string) => options.say(`${section.name}: ${text}`);
    const own = createShutdown(say);
    await options.shutdown.add(own.stop, true);
    try {
      await section.run(benchFor(section, options, own, say));
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

function benchFor(section: Section, options: RunOptions, own: Shutdown, say: (text: string) => void): Bench {
  const { sheet, cluster, endsAt, sizes, runs, settings, before } = options;
  return {
    sizes,
    runs,
    settings,
    before,
    say,
    stack: () => own.starting(startStack(say, cluster), (stack) => stack.stop(), true),
    note(name, column, value) {
      sheet.note(section.name, name, column, value);
      say(`${name}, ${column}: ${value.toPrecision(4)}`);
    },
    patience(wantedMs) {
      const left = endsAt - performance.now();
      if (left <= 0) throw new Error('the time for all is over.');
      return Math.min(wantedMs, left);
    },
  };
}
