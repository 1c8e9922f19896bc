/**
 * The machine was too slow for the round: what the fault waits for did not come before the window was over. That is
 * correct behavior, and says nothing about the fault.
 */
export class TooSlowError extends Error {
  override name = 'TooSlowError';
}
