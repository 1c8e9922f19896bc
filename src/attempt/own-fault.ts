/**
 * Failures of Waybill itself in the middle of an attempt.
 * @module
 */

/** A failure of Waybill itself in the middle of an attempt, as a sentence: it does not count against the receiver. */
export class OwnFault extends Error {
  override readonly name = 'OwnFault';
}
