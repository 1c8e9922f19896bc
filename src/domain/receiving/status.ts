/** The states of a receiving and the transitions between them: a table, nothing else. */

/** From each state to the states that may follow it. */
export const receivingTransitions = {
  awaiting: ['arrived', 'canceled'],
  arrived: ['received', 'canceled'],
  received: ['stocked'],
  stocked: [],
  canceled: [],
} as const satisfies Record<string, readonly string[]>;

/** A state of a receiving. */
export type ReceivingStatus = keyof typeof receivingTransitions;

/** All states of a receiving. */
export const receivingStatuses = Object.keys(receivingTransitions) as [ReceivingStatus, ...ReceivingStatus[]];
