/** Rooms in which every attempt finds its place. */
import type { BatchRooms, Place, Rooms } from '../../src/attempt/rooms.ts';
import { UNBOUNDED } from '../../src/db/outbox/claim.ts';

const place: Place = { leave() {}, crowded: () => 1 };

export const boundless: Rooms & BatchRooms = {
  enter: () => place,
  limits: () => UNBOUNDED,
  admit: () => place,
  claimLimits: () => UNBOUNDED,
};
