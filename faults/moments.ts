/** The moments of an attempt, at which a kill may meet it. */

/** In their order. An attempt may be in two of them: its workflow is started beside it. */
export const moments = [
  /** Claimed, and no attempt begun. */
  'claimed',
  /** Begun, and not at its receiver. */
  'begun',
  /** At its receiver. */
  'requested',
  /** Answered, and not recorded. */
  'answered',
  /** Recorded, and Temporal does not have its workflow. */
  'recorded',
  /** Temporal has its workflow, or its batch's, whose first task has not been completed. */
  'started',
  /** Its workflow waits for the first attempt, which was begun beside it. */
  'joining',
] as const;
/** One of them. */
export type Moment = (typeof moments)[number];
