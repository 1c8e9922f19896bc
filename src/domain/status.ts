/** Moves along a table of states. */
import { conflict } from './problem.ts';
import { changedNames } from './unchanged.ts';

type Transitions<Status extends string> = Readonly<Record<Status, readonly Status[]>>;

/**
 * Staying in a state is not a transition.
 * @param noun the thing that changes its state, such as "order"
 * @throws Problem 409 that names the possible transitions
 */
export function assertMove<Status extends string>(
  table: Transitions<Status>,
  noun: string,
  from: Status,
  to: Status,
): void {
  const ways = table[from];
  if (ways.includes(to)) return;
  const rest = ways.length === 0 ? 'this status is final' : `it can become ${ways.join(', ')}`;
  throw conflict(`The ${noun} is ${from} and cannot become ${to}: ${rest}.`);
}

/**
 * Refuses an e-shop's change that comes too late.
 * @param before the record in the form of a request
 * @throws Problem 409 naming the fields that can no longer be changed
 */
export function assertChangeable(
  noun: string,
  status: string,
  changeable: readonly string[],
  before: object,
  after: object,
): void {
  const changed = changedNames(before, after).filter((field) => !changeable.includes(field));
  if (changed.length === 0) return;
  throw conflict(
    `The ${noun} is ${status}; only ${changeable.join(', ')} can still be changed, not ${changed.join(', ')}.`,
  );
}
