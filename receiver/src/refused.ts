/** Why a request was not accepted as a delivery. */

/** The reason, for programs. */
export type RefusedCode =
  /** A signature, or another header that every delivery has, is missing or malformed. */
  | 'headers'
  /** A signature does not match: the secret, the body or the path differs. */
  | 'signature'
  /** The signature matches, but is too old or from the future. */
  | 'time'
  /** The body cannot be read as received: it was already read, or is too large. */
  | 'body'
  /** The receiver is misconfigured: a secret, a handler or `read` is missing. */
  | 'setup'
  /** Neither POST nor GET. */
  | 'method';

/** A request that is not accepted. Its message says what to do; the sender stores it in the delivery's log. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly code: RefusedCode;
  /** The HTTP status of the answer. */
  readonly status: number;

  constructor(code: RefusedCode, status: number, message: string) {
    super(message);
    this.code = code;
    this.status = status;
  }
}
