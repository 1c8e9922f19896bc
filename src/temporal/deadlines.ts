/** How long Temporal, and the workers behind it, may take. */

/**
 * How long a worker may take for one step of a workflow, in milliseconds. A worker that was killed during one is noticed
 * after this; Temporal's default of 10 s would delay the attempt by as much. A step takes a few milliseconds.
 */
export const WORKFLOW_TASK_TIMEOUT_MS = 5_000;
/**
 * Deadline of a call that must not be lost (it is repeated later), in milliseconds. Long enough for a busy server: with
 * the answer to a start its first workflow task would be lost too, and come again only after a task time-out.
 */
export const CALL_DEADLINE_MS = 10_000;
/** Deadline of a call that only reads, in milliseconds: whoever asks may ask again. */
export const READ_DEADLINE_MS = 5_000;
