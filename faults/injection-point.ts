/** When a fault comes. */

/** The time of its injection. */
export type InjectionPoint =
  /** While the e-shop is in the middle of sending its orders. */
  | 'orders'
  /** While the slow receiver has a request. */
  | 'slow'
  /** After a receiver has got this many recovered deliveries. */
  | `recovered ${number}`
  /** While this attempt at the receiver that always fails is in flight. */
  | number;
