/** A delivery as handlers see it. */
import { type Kind, kinds } from './kinds.ts';

/** What is known of a delivery beside its record. */
export interface Delivery<K extends string = string> {
  /** The same on every attempt (`X-Service-Delivery`): by it a repeat is recognized. */
  readonly id: string;
  /** The same at every webhook, in redeliveries and recoveries (`X-Service-Event-Id`). */
  readonly eventId: string;
  /**
   * Rises with every event of the record, whatever its kind (`X-Service-Sequence`): a lower one than was handled is out of date.
   * Gaps are normal.
   */
  readonly sequence: number;
  /** Whose delivery it is (`X-Service-Webhook`). */
  readonly webhookId: number;
  /** When the event happened; null where `reconcile` fetched it. */
  readonly happenedAt: Date | null;
  /** `CREATE_ORDER` … */
  readonly kind: K;
  /** The identifier of the order, product, receiving, return or stock movement; null where the kind is unknown here. */
  readonly entityId: string | null;
  /** From 1 on; null where `reconcile` fetched it. */
  readonly attempt: number | null;
  /** A sample, asked for with `POST /webhooks/{id}/test` or triggered by the warehouse: there is no such record. */
  readonly test: boolean;
  /** POST brings the record, GET its identifier only. */
  readonly method: 'POST' | 'GET';
  /** When the attempt was signed; null where `reconcile` fetched it. */
  readonly signedAt: Date | null;
}

/** Whether this is one of the kinds that this version knows. */
export function isKind(kind: string): kind is Kind {
  return Object.hasOwn(kinds, kind);
}

/**
 * The identifier in the JSON of a record.
 * @throws SyntaxError when it is not JSON
 */
export function entityIdIn(kind: string, json: string): string | null {
  const record: unknown = JSON.parse(json);
  if (!isKind(kind) || typeof record !== 'object' || record === null) return null;
  const value: unknown = Reflect.get(record, kinds[kind].idField);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
}

/**
 * The identifier that a GET webhook appends to its URL: what follows the last `/` or `=`, decoded. It has neither in
 * it, since both are percent-encoded there.
 * @throws URIError when the escapes make no sense
 */
export function entityIdInTarget(target: string): string {
  return decodeURIComponent(target.slice(Math.max(target.lastIndexOf('/'), target.lastIndexOf('=')) + 1));
}
