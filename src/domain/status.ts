/**
 * Moves along a table of states.
 * @module
 */
import { conflict } from './problem.ts';

/** From each state to the states that may follow it. */
export type Transitions<Status extends string> = Readonly<Record<Status, readonly Status[]>>;

/** True when the table has this way. Staying is no way. */
export function canMove<Status extends string>(
  table: Transitions<Status>,
  from: Status,
  to: Status,
): boolean {
  return table[from].includes(to);
}

/**
 * Refuses a way that the table does not have.
 * @param noun what moves, such as "order"
 * @throws Problem 409 that names the ways there are
 */
export function assertMove<Status extends string>(
  table: Transitions<Status>,
  noun: string,
  from: Status,
  to: Status,
): void {
  if (canMove(table, from, to)) return;
  const ways = table[from];
  const rest = ways.length === 0 ? 'no status follows it' : `it can become ${ways.join(', ')}`;
  throw conflict(`The ${noun} is ${from} and cannot become ${to}: ${rest}.`);
}
