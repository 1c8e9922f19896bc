/** Moves along a table of states. */
import { conflict } from './problem.ts';

type Transitions<Status extends string> = Readonly<Record<Status, readonly Status[]>>;

/** True if the table has this transition. Staying in a state is not a transition. */
export function canMove<Status extends string>(
  table: Transitions<Status>,
  from: Status,
  to: Status,
): boolean {
  return table[from].includes(to);
}

/**
 * @param noun the thing that moves, such as "order"
 * @throws Problem 409 that names the possible transitions
 */
export function assertMove<Status extends string>(
  table: Transitions<Status>,
  noun: string,
  from: Status,
  to: Status,
): void {
  if (canMove(table, from, to)) return;
  const ways = table[from];
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
  const known = new Map<string, unknown>(Object.entries(before));
  const changed = Object.entries(after)
    .filter(([field, value]) => JSON.stringify(value) !== JSON.stringify(known.get(field)))
    .map(([field]) => field)
    .filter((field) => !changeable.includes(field));
  if (changed.length === 0) return;
  throw conflict(
    `The ${noun} is ${status}; only ${changeable.join(', ')} can still be changed, not ${changed.join(', ')}.`,
  );
}
