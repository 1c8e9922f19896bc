/** A section of the bench: what it measures on a stack of its own, and what it is given for that. */

import type { Conditions } from '../conditions.ts';
import type { Criterion } from '../criteria.ts';
import type { Column } from '../sheet.ts';
import type { Sizes } from '../sizes.ts';
import type { Stack } from '../stack.ts';

/** A setting of `FIRST_ATTEMPTS`. */
export const settings = ['each', 'auto', 'batch'] as const;
/** One of {@link settings}. */
export type Setting = (typeof settings)[number];

/** What a section is given. */
export interface Bench {
  readonly sizes: Sizes;
  readonly runs: number;
  /** Those asked for, in their order. */
  readonly settings: readonly Setting[];
  /** Another checkout to compare with. */
  readonly before: string | undefined;
  /** What the names of scenarios have to contain; empty: all. */
  readonly beside: string;
  /** Starts a stack, which ends with the section. */
  stack(more?: Pick<Conditions, 'pooler'>): Promise<Stack>;
  note(name: string, column: Column, value: number): void;
  /** Tells whoever waits what is being done. */
  say(text: string): void;
  /**
   * How long something may take, in milliseconds: what was asked for, or what is left of the time for all.
   * @throws Error when nothing is left
   */
  patience(wantedMs: number): number;
}

/** A part of the table. */
export interface Section {
  readonly name: string;
  /** For the list of sections. */
  readonly about: string;
  /** What is to be reached. */
  readonly criteria: readonly Criterion[];
  run(bench: Bench): Promise<void>;
}

/** Where only one setting is of interest: the default one, if it was asked for. */
export function mainSetting({ settings: asked }: Bench): Setting {
  return asked.includes('auto') ? 'auto' : (asked[0] ?? 'auto');
}

/** Where only batch mode is of interest: a setting that has it, if one was asked for. */
export const rushSetting = ({ settings: asked }: Bench): Setting | undefined =>
  (['batch', 'auto'] as const).find((setting) => asked.includes(setting));
