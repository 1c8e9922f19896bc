/**
 * The machine was too slow for the round: the window was over before something that the fault needs. Waybill's
 * behavior is correct, and the round says nothing about the fault.
 */
export class TooSlowError extends Error {
  override name = 'TooSlowError';
}
