/** When a fault comes. */

/** When it happens, besides while orders come in. */
export type InjectionPoint =
  /** The e-shop is in the middle of sending its orders. */
  | 'orders'
  /** A receiver that takes its time has a request before it. */
  | 'slow'
  /** A receiver has got so many of what is recovered for it. */
  | `recovered ${number}`
  /** This attempt at the receiver that always fails is in flight. */
  | number;
