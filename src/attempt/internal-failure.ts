/** Internal failures in the middle of an attempt. */

/** An internal failure in the middle of an attempt, as a sentence: it does not count against the receiver. */
export class InternalFailure extends Error {
  override readonly name: string = 'InternalFailure';
}

/** Too many lookups of the e-shop are under way: nothing failed, and an immediate retry would find as many. */
export class LookupsFull extends InternalFailure {
  override readonly name = 'LookupsFull';
}
