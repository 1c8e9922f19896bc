/** Failures of Waybill itself in the middle of an attempt. */

/** A failure of Waybill itself in the middle of an attempt, as a sentence: it does not count against the receiver. */
export class InternalFailure extends Error {
  override readonly name: string = 'InternalFailure';
}

/** Too many lookups of the e-shop are under way: nothing failed, and a try at once would find as many. */
export class Crowded extends InternalFailure {
  override readonly name = 'Crowded';
}
