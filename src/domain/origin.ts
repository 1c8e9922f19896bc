/** Who made a write, as named in its events (`X-Service-Origin`). */
import { STOCK_ONLY } from './changed-fields.ts';
import { type EventType, movementOf } from './event-types.ts';
import { roles } from './role.ts';

/** A user's role, or `service` for what Waybill does itself: timers, and the commands of operators. */
export const origins = [...roles, 'service'] as const;
export type Origin = (typeof origins)[number];

/** The origin of an e-shop's own changes. A webhook with `skipOwn` leaves them out unless only stock changed. */
export const OWN_ORIGIN: Origin = 'shop';

interface WrittenEvent {
  readonly type: EventType;
  /** The fields that the write changed, as `changedFields` names them; null if it is no update. */
  readonly changed: string | null;
}

/** Whether an event is about stock alone: a movement, or an update of a product in which nothing else changed. */
export function isAboutStock({ type, changed }: WrittenEvent): boolean {
  return movementOf(type) !== null || changed === STOCK_ONLY;
}

/** Whether an event is a change that webhooks with `skipOwn` leave out. */
export function isOwnChange({ origin, ...event }: WrittenEvent & { readonly origin: Origin }): boolean {
  return origin === OWN_ORIGIN && !isAboutStock(event);
}
