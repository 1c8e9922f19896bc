/** A delivery as handlers see it. */
import { type Kind, kinds } from './kinds.ts';

const origins = ['shop', 'warehouse', 'service'] as const;

/**
 * Who made a change: a user of the e-shop, the warehouse (a user, or its import), or the service itself, such as
 * its timers.
 */
export type Origin = (typeof origins)[number];

/** Whether this version knows the origin. */
export function isOrigin(text: string): text is Origin {
  return origins.some((each) => each === text);
}

/** The names in `X-Service-Changed`; null if it is empty. */
export function fieldsIn(changed: string): readonly string[] | null {
  return changed === '' ? null : changed.split(',');
}

/** The facts that a handler gets about a delivery besides its record. */
export interface Delivery<K extends string = string> {
  /** The same on every attempt (`X-Service-Delivery`): it identifies repeats. */
  readonly id: string;
  /** The same at every webhook, in redeliveries and recoveries (`X-Service-Event-Id`). */
  readonly eventId: string;
  /**
   * Rises with every event of the record, whatever its kind (`X-Service-Sequence`): one lower than the last handled
   * is out of date. Gaps are normal.
   */
  readonly sequence: number;
  /** The webhook of the delivery (`X-Service-Webhook`). */
  readonly webhookId: number;
  /** When the event happened; null if `reconcile` fetched it. */
  readonly happenedAt: Date | null;
  /**
   * Who made the change (`X-Service-Origin`): with `shop` it was one of your own. Null if the signature does not
   * cover it, as with a sender from before `v3` of the signature.
   */
  readonly origin: Origin | null;
  /**
   * The changed top-level fields (`X-Service-Changed`), in the order of the record; `['*']` if there are too many to
   * name. Null for an event that is not an update, and if the origin is null.
   */
  readonly changed: readonly string[] | null;
  /** `CREATE_ORDER` … */
  readonly kind: K;
  /** The identifier of the order, product, receiving, return or stock movement; null if the kind is unknown here. */
  readonly entityId: string | null;
  /** From 1; null if `reconcile` fetched it. */
  readonly attempt: number | null;
  /** A sample, requested with `POST /webhooks/{id}/test` or triggered by the warehouse: its record does not exist. */
  readonly test: boolean;
  /** POST contains the record, GET only its identifier. */
  readonly method: 'POST' | 'GET';
  /** When the attempt was signed; null if `reconcile` fetched it. */
  readonly signedAt: Date | null;
}

/** Whether this version knows the kind. */
export function isKind(kind: string): kind is Kind {
  return Object.hasOwn(kinds, kind);
}

/**
 * The identifier in the JSON of a record.
 * @throws SyntaxError if it is not JSON
 */
export function entityIdIn(kind: string, json: string): string | null {
  const record: unknown = JSON.parse(json);
  if (!isKind(kind) || typeof record !== 'object' || record === null) return null;
  const value: unknown = Reflect.get(record, kinds[kind].idField);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
}

/**
 * The identifier that a GET webhook appends to its URL: the part after the last `/` or `=`, decoded. It contains
 * neither, because both are percent-encoded there.
 * @throws URIError if the escapes are invalid
 */
export function entityIdInTarget(target: string): string {
  return decodeURIComponent(target.slice(Math.max(target.lastIndexOf('/'), target.lastIndexOf('=')) + 1));
}
