/**
 * How much the relay takes on at once.
 * @module
 */

/** Rows per claim: enough to make the claim cheap, and few enough to be passed on within seconds. */
export const BATCH = 100;
/** Calls to Temporal under way at once. */
export const CONCURRENCY = 25;
