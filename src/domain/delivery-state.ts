/** The states of a delivery as the e-shop sees them (docs: "The delivery log"). */

export const storedStates = [
  'pending',
  'retrying',
  'delivered',
  'failed',
  'expired',
  'canceled',
  'superseded',
] as const;
export type StoredState = (typeof storedStates)[number];

/** All states that a delivery can show: `held` is an open delivery of an inactive webhook, never stored. */
export const deliveryStates = [
  'pending',
  'retrying',
  'held',
  'delivered',
  'failed',
  'expired',
  'canceled',
  'superseded',
] as const;
export type DeliveryState = (typeof deliveryStates)[number];

export function isOpen(state: StoredState): state is 'pending' | 'retrying' {
  return state === 'pending' || state === 'retrying';
}
