/** The pause of a webhook (docs/interface.md, W23). Pure. */

/**
 * How far ahead a pause may end. Less: a longer maintenance has to be extended. More: one that was forgotten holds
 * more.
 */
export const MAX_PAUSE_DAYS = 7;

/** Whether a webhook is paused at a time. @param pausedUntil when its last pause ends or ended */
export function isPaused(webhook: { readonly pausedUntil: Date | null; readonly now: Date }): boolean {
  return webhook.pausedUntil !== null && webhook.pausedUntil > webhook.now;
}

/**
 * After a pause the deliveries whose attempts Temporal has planned go on within this time, spread evenly, in
 * milliseconds: thousands may be due. Those of the queue go on by turns. Less: a burst at Temporal. More: they wait
 * without need.
 */
export const SPREAD_MS = 10_000;

/**
 * When a delivery whose attempts Temporal plans goes on after a pause.
 * @param deliveryId its last digits are random
 */
export function resumesAt(deliveryId: string, pausedUntil: Date): Date {
  const place = Number.parseInt(deliveryId.slice(-4), 16) / 0x1_0000;
  return new Date(pausedUntil.getTime() + Math.floor(place * SPREAD_MS));
}
