/** Errors that a handler throws to answer with something other than success. */

/**
 * The receiver wants no more of this webhook: answered with 410, which deactivates the webhook at once.
 *
 * @example if (shop.closed) throw new Gone('The shop has closed.');
 */
export class Gone extends Error {
  override readonly name = 'Gone';
  constructor(message = 'Gone.') {
    super(message);
  }
}

/**
 * Not now: answered with 503 and `Retry-After`. The sender waits that long or its usual wait, whichever is longer,
 * within its 48 hours. The attempt still counts as one of the 21.
 *
 * @example throw new RetryLater(120, 'The shop is being updated.');
 */
export class RetryLater extends Error {
  override readonly name = 'RetryLater';
  /** The value of `Retry-After`: whole seconds, or an HTTP date. */
  readonly retryAfter: string;

  /**
   * @param when seconds from now, or a moment
   * @throws RangeError if it is neither
   */
  constructor(when: number | Date, message = 'Not now.') {
    super(message);
    const value = when instanceof Date ? when.getTime() : when;
    if (!Number.isFinite(value) || value < 0)
      throw new RangeError('RetryLater takes seconds from now (0 or more) or a valid Date.');
    this.retryAfter = when instanceof Date ? when.toUTCString() : String(Math.ceil(when));
  }
}
