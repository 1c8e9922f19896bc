/** The states of a return and the transitions between them: a table, nothing else. */

export const returnTransitions = {
  awaiting: ['arrived', 'canceled'],
  arrived: ['processing', 'rejected'],
  processing: ['completed', 'rejected'],
  completed: [],
  rejected: [],
  canceled: [],
} as const satisfies Record<string, readonly string[]>;

export type ReturnStatus = keyof typeof returnTransitions;

export const returnStatuses = Object.keys(returnTransitions) as [ReturnStatus, ...ReturnStatus[]];
