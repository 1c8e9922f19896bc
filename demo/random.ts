/** Random choices that can be repeated. */
import { createHash } from 'node:crypto';

/** Random choices from a seed: the same seed gives the same choices in the same order. */
export interface Random {
  /** An integer from `least` to `most`, both included. */
  integer(least: number, most: number): number;
  /** One of the list. @throws RangeError when it is empty */
  pick<T>(list: readonly T[]): T;
  /** The given number of different items of the list; all of them if there are fewer. */
  some<T>(list: readonly T[], count: number): T[];
}

/** @example randomFrom('monday').integer(1, 6) */
export function randomFrom(seed: string): Random {
  // Mulberry32: short, and good enough to choose tea.
  let state = createHash('sha256').update(seed).digest().readUInt32LE();
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const integer = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
  return {
    integer,
    pick(list) {
      const chosen = list[integer(0, list.length - 1)];
      if (chosen === undefined) throw new RangeError('There is nothing to choose from.');
      return chosen;
    },
    some(list, count) {
      const left = [...list];
      const chosen: typeof left = [];
      while (chosen.length < count && left.length > 0) {
        chosen.push(...left.splice(integer(0, left.length - 1), 1));
      }
      return chosen;
    },
  };
}
