/** The moments of a delivery in the queue at which a kill may meet it. */

/** In the order in which a delivery passes them. */
export const moments = [
  /** Claimed, but no attempt begun. */
  'claimed',
  /** An attempt begun, but not at its receiver. */
  'begun',
  /** At its receiver. */
  'requested',
  /** Answered, but not recorded. */
  'answered',
  /** Recorded, but Temporal does not have its workflow. */
  'recorded',
  /** Temporal has its workflow, but it is not marked as dispatched. */
  'started',
] as const;
/** The name of a moment. */
export type Moment = (typeof moments)[number];
