/**
 * Rooms in which every attempt finds its place.
 * @module
 */
import type { BatchRooms, Rooms } from '../../src/attempt/rooms.ts';
import { UNBOUNDED } from '../../src/db/outbox/claim.ts';

export const boundless: Rooms & BatchRooms = {
  enter: () => ({ leave() {} }),
  limits: () => UNBOUNDED,
  admit: () => ({ leave() {} }),
  claimLimits: () => UNBOUNDED,
};
