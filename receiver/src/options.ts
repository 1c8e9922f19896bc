/** The options and the methods of a receiver. */
import type { Delivery } from './delivery.ts';
import type { SignatureVersion } from './judgment.ts';
import type { Kind } from './kinds.ts';
import type { Order } from './order.ts';
import type { Payload, PayloadVersion } from './payloads.generated.ts';
import type { PublicKeys } from './public-keys.ts';
import type { Secrets } from './secrets.ts';
import type { Store } from './store.ts';

/** Options of a receiver: `secrets`, `publicKeys` or both, and a store. */
export type ReceiverOptions<V extends PayloadVersion = 'v2'> = CommonOptions<V> &
  (
    | { readonly secrets: Secrets; readonly publicKeys?: PublicKeys }
    | { readonly secrets?: Secrets; readonly publicKeys: PublicKeys }
  );

export interface CommonOptions<V extends PayloadVersion> {
  /** The `secret` of each webhook that calls this receiver. */
  readonly secrets?: Secrets;
  /**
   * The public keys of the e-shop (`GET /eshop/signing-keys`), for webhooks with `asymmetric`. With `secrets`, both
   * signatures must match. Without them only `v1a` must match, which covers the id, the time and the body: kind,
   * sequence, webhook and test mark may be changed in transit, `origin` and `changed` are null, and GET deliveries
   * are refused.
   */
  readonly publicKeys?: PublicKeys;
  /** Remembers handled deliveries. */
  readonly store: Store;
  /**
   * Remembers the last sequence handled of each record (`memoryOrder()`, or three methods on a database): lower
   * ones are acknowledged but not handled. Default: everything is handled, whatever its sequence.
   */
  readonly order?: Order;
  /**
   * The payload version of the webhooks. Decides the types of the payloads (default: `v2`, as for webhooks); if
   * given, payloads in the other version are refused, tests included.
   */
  readonly payloadVersion?: V;
  /** Reads the record that a GET delivery names, as JSON text or object: `api.read`, see `waybill()`. */
  readonly read?: (delivery: Delivery) => Promise<string | object>;
  /**
   * Signatures of which one is enough: the highest that a request has counts (default: `['v3', 'v2']`). `v2` does not
   * cover `origin` and `changed`, which are then null. `v1` does not cover sequence, webhook and test mark either: it
   * is for receivers behind something that removes headers.
   */
  readonly accept?: readonly SignatureVersion[];
  /** How far the time of a signature may be off, in seconds (default: 300). */
  readonly tolerance?: number;
  /**
   * How long a handler may take, in milliseconds (default: 120,000): after that the process is considered dead, and
   * the next attempt handles the delivery. The sender itself waits for 15 seconds, then tries again later.
   */
  readonly leaseMs?: number;
  /**
   * How to treat a test request (`X-Service-Test`), whose record does not exist. Default `verify`: no handler is
   * called.
   */
  readonly tests?: 'verify' | 'handle';
  /** Path and query as the sender requested them, if a proxy or router has changed them (default: as in the URL). */
  readonly target?: (request: Request) => string;
  /** The identifier in path and query of a GET (default: the part after the last `/` or `=`). */
  readonly entityId?: (target: string) => string;
  /**
   * Called with every problem: a `Refused`, or an error thrown by a handler or the store; not with `Gone` and
   * `RetryLater`, which are thrown on purpose (default: `console.error`).
   */
  readonly onProblem?: (problem: unknown, request: Request) => void;
  /** Milliseconds since 1970 (default: the clock). */
  readonly now?: () => number;
}

/**
 * Handles a delivery. If it throws, the delivery is attempted again; `Gone` and `RetryLater` have their own
 * meanings.
 */
export type Handler<P, K extends string = string> = (payload: P, delivery: Delivery<K>) => unknown;

/**
 * The outcome of a delivery. `repeat`: it was handled before. `stale`: it was not handled, because a later event of
 * its record was handled before. `busy`: an earlier attempt of it is still being handled. `recordBusy`: a delivery of
 * its record has been handled for two seconds and still is; only with an order.
 */
export type Handling = 'handled' | 'repeat' | 'stale' | 'busy' | 'recordBusy';

/** Facts about a request that an adapter knows and its URL may not show. */
export interface RequestContext {
  /** Path and query exactly as on the request line. */
  readonly requestTarget?: string;
}

/** From `Request` to `Response`. Each method returns a new receiver. */
export interface Receiver<V extends PayloadVersion = 'v2'> {
  (request: Request, context?: RequestContext): Promise<Response>;
  /** The same, as runtimes with `export default { fetch }` call it. */
  fetch(request: Request): Promise<Response>;
  /** Handles one or several kinds. */
  on<K extends Kind>(kind: K | readonly K[], handler: Handler<Payload<K, V>, K>): Receiver<V>;
  /** Handles every kind that has no handler of its own. Without it these are answered with 501. */
  otherwise(handler: Handler<Payload<Kind, V>>): Receiver<V>;
  /** Whether there is a handler for this kind. */
  handles(kind: string): boolean;
  /**
   * Claims, handles and remembers a delivery that did not come as a request, such as one from a queue.
   * @param json the record, as JSON text
   * @throws any error of the handler or the store, including `Gone` and `RetryLater`
   */
  handle(delivery: Delivery, json: () => Promise<string>): Promise<Handling>;
  readonly store: Store;
}
