/** A request, and by what it is judged. */
import type { Bytes } from './bytes.ts';
import type { SecretSource } from './secrets.ts';

/** A request as it came. */
export interface ReceivedRequest {
  readonly method: string;
  /** Path and query exactly as on the request line. */
  readonly target: string;
  readonly headers: Headers;
  /** Exactly as it came; empty on GET. */
  readonly body: Bytes;
}

/**
 * A version of `X-Service-Signature`. `v2` covers all by which a receiver decides; `v1` leaves the sequence, the webhook, whether it
 * is a test and, of a POST, path and query to whoever stands between.
 */
export type SignatureVersion = 'v1' | 'v2';

/** By what a request is judged. */
export interface Judgement {
  readonly secrets: SecretSource;
  /** Which of them suffice. */
  readonly accept: readonly SignatureVersion[];
  /** How far the time of a signature may be off, in seconds. */
  readonly tolerance: number;
  /** Milliseconds since 1970. */
  readonly now: number;
}
