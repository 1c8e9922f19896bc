/** Why a request was not taken as a delivery. */

/** What was wrong, for programs. */
export type RefusedCode =
  /** A signature, or another header of every delivery, is missing or makes no sense. */
  | 'headers'
  /** A signature does not match: the secret, the body or the path differs. */
  | 'signature'
  /** The signature is good, but too old or from the future. */
  | 'time'
  /** The body cannot be read as it came: something has read it before, or it is too large. */
  | 'body'
  /** The receiver is set up wrongly: a secret, a handler or `read` is missing. */
  | 'setup'
  /** Neither POST nor GET. */
  | 'method';

/** A request that is not taken. Its message says what to do; the sender keeps it in the delivery's log. */
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
