/** The states of a receiving and the transitions between them: a table, nothing else. */

export const receivingTransitions = {
  awaiting: ['arrived', 'canceled'],
  arrived: ['received', 'canceled'],
  received: ['stocked'],
  stocked: [],
  canceled: [],
} as const satisfies Record<string, readonly string[]>;

export type ReceivingStatus = keyof typeof receivingTransitions;

export const receivingStatuses = Object.keys(receivingTransitions) as [ReceivingStatus, ...ReceivingStatus[]];
