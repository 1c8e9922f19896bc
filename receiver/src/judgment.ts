/** A request, and the criteria by which it is verified. */
import type { Bytes } from './bytes.ts';
import type { PublicKeySource } from './public-keys.ts';
import type { SecretSource } from './secrets.ts';

/** A request as received. */
export interface ReceivedRequest {
  readonly method: string;
  /** Path and query exactly as on the request line. */
  readonly target: string;
  readonly headers: Headers;
  /** Exactly as received; empty on GET. */
  readonly body: Bytes;
}

/**
 * A version of `X-Service-Signature`. `v3` covers everything that a receiver's decisions depend on. `v2` does not
 * cover who made the change and what it changed. `v1` does not cover the sequence, the webhook, the test mark and, on
 * POST, path and query either: these may be changed in transit.
 */
export type SignatureVersion = 'v1' | 'v2' | 'v3';

/** The criteria by which a request is verified. */
export interface Judgment {
  /** Null if only `v1a` has to match. */
  readonly secrets: SecretSource | null;
  /** The keys of which one must have made a `v1a`; null if none is required. */
  readonly publicKeys: PublicKeySource | null;
  /** The versions of which one is enough: the highest that a request has counts. */
  readonly accept: readonly SignatureVersion[];
  /** How far the time of a signature may be off, in seconds. */
  readonly tolerance: number;
  /** Milliseconds since 1970. */
  readonly now: number;
}
