/** The states of an order and the transitions between them: a table, nothing else. */

export const orderTransitions = {
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
} as const satisfies Record<string, readonly string[]>;

export type OrderStatus = keyof typeof orderTransitions;

export const orderStatuses = Object.keys(orderTransitions) as [OrderStatus, ...OrderStatus[]];
