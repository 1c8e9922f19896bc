/** Time limits of Temporal and its workers. */

/**
 * How long a worker may take for one step of a workflow, in milliseconds; a step takes a few. A killed worker is
 * noticed after this time: Temporal's default of 10 s would delay the attempt by as much.
 */
export const WORKFLOW_TASK_TIMEOUT_MS = 5_000;
/**
 * Deadline of a call that must not be lost (it is repeated later), in milliseconds. If it were too short for a busy
 * server, the first workflow task would be lost with the answer, and repeated only after its time-out.
 */
export const CALL_DEADLINE_MS = 10_000;
/** Deadline of a call that only reads, in milliseconds: the caller may repeat it. */
export const READ_DEADLINE_MS = 5_000;
