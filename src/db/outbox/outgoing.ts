/**
 * How much the deliveries of what was written will send: a few bytes that change a large record are many where it has many webhooks.
 */
import type { Pool } from '../pool.ts';

/** Told after COMMIT. @param bytes of bodies, roughly */
type OnOutgoing = (eshopId: number, bytes: number) => void;

const listeners = new WeakMap<Pool, OnOutgoing>();

/** Names who is told of what is written through this pool; one for each. */
export function onOutgoing(sql: Pool, listener: OnOutgoing): void {
  listeners.set(sql, listener);
}

/** Call it after a COMMIT that created deliveries. */
export function tellOutgoing(sql: Pool, eshopId: number, bytes: number): void {
  if (bytes > 0) listeners.get(sql)?.(eshopId, bytes);
}

/** Bytes of the bodies of deliveries, roughly: each event has about as many as the others. */
export function outgoingBytes(events: readonly { readonly snapshot: string }[], deliveries: number): number {
  const bytes = events.reduce((sum, { snapshot }) => sum + snapshot.length, 0);
  return events.length === 0 ? 0 : Math.round((bytes * deliveries) / events.length);
}
