/** The moments of an attempt at which a kill may meet it. */

/** In order. An attempt may be at two of them: its workflow is started in parallel. */
export const moments = [
  /** Claimed, but no attempt begun. */
  'claimed',
  /** Begun, but not at its receiver. */
  'begun',
  /** At its receiver. */
  'requested',
  /** Answered, but not recorded. */
  'answered',
  /** Recorded, but Temporal does not have its workflow. */
  'recorded',
  /** Temporal has its workflow or its batch's, but the first task is not completed. */
  'started',
  /** Its workflow waits for the first attempt, which was begun in parallel. */
  'joining',
] as const;
/** The name of a moment. */
export type Moment = (typeof moments)[number];
