/** How much the relay takes on at once. */

/** Rows per claim: enough to make the claim cheap, and few enough to be passed on within seconds. */
export const BATCH = 100;
/** Calls to Temporal under way at once. */
export const CONCURRENCY = 25;
/** Before the next claim while as much is handed over as may be, in milliseconds. */
export const FULL_MS = 100;
/** With fewer free slots than this a batch waits: it would be a small one. */
export const LEAST_SLOTS = 64;
