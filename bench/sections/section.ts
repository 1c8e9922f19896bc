/** A section of the bench: it measures on its own stack, with the means given here. */

import type { Setting } from '../../test/support/harness/settings.ts';
import type { Criterion } from '../criteria.ts';
import type { Column } from '../sheet.ts';
import type { Sizes } from '../sizes.ts';
import type { Stack } from '../stack.ts';

/** The means of a section. */
export interface Bench {
  readonly sizes: Sizes;
  readonly runs: number;
  /** The requested settings, in order. */
  readonly settings: readonly Setting[];
  /** A text that the names of scenarios must contain; empty: all. */
  readonly scenario: string;
  /** Starts a stack, which ends with the section. */
  stack(): Promise<Stack>;
  note(name: string, column: Column, value: number): void;
  /** Reports progress. */
  say(text: string): void;
  /**
   * How long something may take, in milliseconds: the wanted time, or what is left of the time for all.
   * @throws Error if nothing is left
   */
  patience(wantedMs: number): number;
}

/** A part of the table. */
export interface Section {
  readonly name: string;
  /** For the list of sections. */
  readonly about: string;
  /** The targets. */
  readonly criteria: readonly Criterion[];
  run(bench: Bench): Promise<void>;
}

/** If only one setting is of interest: the default one, if it was requested. */
export function mainSetting({ settings: asked }: Bench): Setting {
  return asked.includes('all') ? 'all' : (asked[0] ?? 'all');
}
