/** The states of a return and the transitions between them: a table, nothing else. */

/** From each state to the states that may follow it. */
export const returnTransitions = {
  awaiting: ['arrived', 'canceled'],
  arrived: ['processing', 'rejected'],
  processing: ['completed', 'rejected'],
  completed: [],
  rejected: [],
  canceled: [],
} as const satisfies Record<string, readonly string[]>;

/** A state of a return. */
export type ReturnStatus = keyof typeof returnTransitions;

/** All states of a return. */
export const returnStatuses = Object.keys(returnTransitions) as [ReturnStatus, ...ReturnStatus[]];
