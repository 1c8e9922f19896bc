/** How long Temporal, and the workers behind it, may take. */

/**
 * How long a worker may take for one step of a workflow, in milliseconds; a step takes a few. A killed worker is
 * noticed after this: Temporal's default of 10 s would delay the attempt by as much.
 */
export const WORKFLOW_TASK_TIMEOUT_MS = 5_000;
/**
 * Deadline of a call that must not be lost (it is repeated later), in milliseconds. Too short for a busy server, the
 * first workflow task would be lost with the answer, and come again only after its time-out.
 */
export const CALL_DEADLINE_MS = 10_000;
/** Deadline of a call that only reads, in milliseconds: whoever asks may ask again. */
export const READ_DEADLINE_MS = 5_000;
