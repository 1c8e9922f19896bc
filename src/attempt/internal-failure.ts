/** Internal failures in the middle of an attempt. */

/**
 * An internal failure in the middle of an attempt; its message is a sentence. It does not count against the receiver.
 */
export class InternalFailure extends Error {
  override readonly name: string = 'InternalFailure';
}

/** This process is being stopped: nothing failed, and another one will make the attempt. */
export class Stopping extends InternalFailure {}

/** Too many lookups of the e-shop are under way: nothing has failed, and an immediate retry would be no better. */
export class LookupsFull extends InternalFailure {
  override readonly name = 'LookupsFull';
}
