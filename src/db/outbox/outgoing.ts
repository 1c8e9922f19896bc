/**
 * How much the deliveries of a write will send: a change of a few bytes in a large record means many if there are
 * many webhooks.
 */
import type { Pool } from '../pool.ts';

/** Called after COMMIT. @param bytes of bodies, roughly */
type OnOutgoing = (eshopId: number, bytes: number) => void;

const listeners = new WeakMap<Pool, OnOutgoing>();

/** Sets the listener to the writes through this pool; one for each pool. */
export function onOutgoing(sql: Pool, listener: OnOutgoing): void {
  listeners.set(sql, listener);
}

/** Call it after a COMMIT that created deliveries. */
export function tellOutgoing(sql: Pool, eshopId: number, bytes: number): void {
  if (bytes > 0) listeners.get(sql)?.(eshopId, bytes);
}

/** The bytes of deliveries' bodies, roughly, as if each event had equally many deliveries. */
export function outgoingBytes(events: readonly { readonly snapshot: string }[], deliveries: number): number {
  const bytes = events.reduce((sum, { snapshot }) => sum + snapshot.length, 0);
  return events.length === 0 ? 0 : Math.round((bytes * deliveries) / events.length);
}
