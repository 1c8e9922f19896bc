/** The states of a delivery as the e-shop sees them (docs: "The delivery log"). */

const open = ['pending', 'retrying'] as const;
const ended = ['delivered', 'failed', 'expired', 'canceled', 'superseded'] as const;

export const storedStates = [...open, ...ended] as const;
export type StoredState = (typeof storedStates)[number];

export type FinalState = (typeof ended)[number];

/** All states that a delivery can show. `held` is never stored: an open delivery that makes no attempt. */
export const deliveryStates = [...open, 'held', ...ended] as const;
export type DeliveryState = (typeof deliveryStates)[number];

export const cancelers = ['operator', 'user', 'deletion'] as const;
export type CanceledBy = (typeof cancelers)[number];

/** How a delivery was canceled, to continue a sentence. */
export const howCanceled: Readonly<Record<CanceledBy, string>> = {
  operator: 'by an operator of the warehouse',
  user: 'by a user of the e-shop',
  deletion: 'because its webhook was deleted',
};

/** Why a delivery waits for other requests, in a sentence; docs/interface.md, L14, says the same. */
export const limitReached =
  'the limit on concurrent requests is reached, of its receiver, of the e-shop, or of all receivers that hang';

/** The outcomes of an attempt, as recorded. `gone`: the receiver responded with 410. */
export const attemptOutcomes = ['success', 'failure', 'gone'] as const;
export type RecordedOutcome = (typeof attemptOutcomes)[number];

export function isOpen(state: StoredState): state is 'pending' | 'retrying' {
  return state === 'pending' || state === 'retrying';
}
