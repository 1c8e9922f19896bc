/** Who made a write: its events say so (`X-Service-Origin`). */
import { roles } from './role.ts';

/** A user's role, or `service` for what Waybill does itself: timers, and the commands of operators. */
export const origins = [...roles, 'service'] as const;
export type Origin = (typeof origins)[number];
