/** The pause of a webhook (docs/interface.md, W23). Pure. */

/**
 * How far ahead the end of a pause may be. Too low: the pause of a longer maintenance has to be extended. Too high: a
 * forgotten pause holds more deliveries.
 */
export const MAX_PAUSE_DAYS = 7;

/** Whether a webhook is paused at a time. @param pausedUntil when its last pause ends or ended */
export function isPaused(webhook: { readonly pausedUntil: Date | null; readonly now: Date }): boolean {
  return webhook.pausedUntil !== null && webhook.pausedUntil > webhook.now;
}

/**
 * After a pause thousands of attempts that Temporal has planned may be due: they are spread evenly over this time, in
 * milliseconds. Deliveries in the queue continue by turns. Too low: a burst at Temporal. Too high: they wait longer
 * than needed.
 */
export const SPREAD_MS = 10_000;

/**
 * When a delivery continues after a pause, if Temporal plans its attempts.
 * @param deliveryId its last digits are random
 */
export function resumesAt(deliveryId: string, pausedUntil: Date): Date {
  const place = Number.parseInt(deliveryId.slice(-4), 16) / 0x1_0000;
  return new Date(pausedUntil.getTime() + Math.floor(place * SPREAD_MS));
}
