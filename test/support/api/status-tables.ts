/** The transitions of docs/interface.md (O3, R3, T2), written again: the program's own table would test itself. */

/** For each status of an order, the statuses that may follow. */
export const orderWays: Readonly<Record<string, readonly string[]>> = {
  preOrder: ['preReceived', 'canceled'],
  preReceived: ['received', 'suspended', 'waitingForPayment', 'incorrect', 'canceled'],
  suspended: ['preReceived', 'received', 'canceled'],
  waitingForPayment: ['preReceived', 'received', 'canceled'],
  incorrect: ['preReceived', 'received', 'canceled'],
  received: ['processing', 'productsNotAvailable', 'suspended', 'canceled'],
  productsNotAvailable: ['received', 'canceled'],
  processing: ['packed', 'suspended', 'canceled'],
  packed: ['waitingForCarrier', 'canceled'],
  waitingForCarrier: ['onTheWay'],
  onTheWay: ['delivered', 'lost', 'returningBack'],
  delivered: [],
  lost: [],
  returningBack: ['returnedBack'],
  returnedBack: ['receivedBack'],
  receivedBack: [],
  canceled: [],
};

/** The same for a receiving. */
export const receivingWays: Readonly<Record<string, readonly string[]>> = {
  awaiting: ['arrived', 'canceled'],
  arrived: ['received', 'canceled'],
  received: ['stocked'],
  stocked: [],
  canceled: [],
};

/** The same for a return. */
export const returnWays: Readonly<Record<string, readonly string[]>> = {
  awaiting: ['arrived', 'canceled'],
  arrived: ['processing', 'rejected'],
  processing: ['completed', 'rejected'],
  completed: [],
  rejected: [],
  canceled: [],
};
