/**
 * How many attempts may be under way at once: of one webhook, to one host, of one e-shop. Who is slow fills its own room
 * and nobody else's. In the memory of one worker: each worker finds its own bounds, and none needs to be told. Pure.
 */
import type { InFlightLimits } from '../db/outbox/claim.ts';
import { BATCH_SLOTS } from './slots.ts';

/** Whose attempt it is. */
export interface Destination {
  readonly eshopId: number;
  readonly webhookId: number;
  readonly url: string;
}

/** A place among the attempts under way. */
export interface Place {
  /** @param accepted whether the receiver accepted; null where nothing was learned about it */
  leave(accepted: boolean | null): void;
  /**
   * Too many lookups of the e-shop are under way, most likely of names that nobody answers for. Its webhook is closed for a while, since
   * each attempt would be in vain; the host is not, as it may be that of other e-shops too. Called before `leave`.
   * @returns in how many milliseconds to ask again
   */
  crowded(): number;
}

/** The bounds of one worker. */
export interface Rooms {
  /** @returns the place, or in how many milliseconds to ask again: by then those ahead of it have had theirs */
  enter(destination: Destination): Place | number;
  /** What may be in flight, for the claims of the relay: what would find no place waits in the database. */
  limits(): InFlightLimits;
}

/** The bounds of one worker's batches: what finds no place is nobody's turn, and asks again without having queued. */
export interface BatchRooms {
  /** @returns the place; or whether there will be one within a moment: `later` is for the database to keep */
  admit(destination: Destination): Place | 'soon' | 'later';
  /** What batches may hold, for the claims of the relay: as much as begins within a moment. */
  claimLimits(): InFlightLimits;
}

/** Webhooks and hosts as a worker knows them, whatever makes the attempts. */
export interface Destinations {
  readonly webhooks: Map<number, Room>;
  readonly hosts: Map<string, Room>;
}

export const createDestinations = (): Destinations => ({ webhooks: new Map(), hosts: new Map() });

/** Of a webhook or a host about which nothing is known. */
const FIRST_LIMIT = 20;
/** As many as one e-shop may have of the slots of batches. */
const GREATEST_LIMIT = BATCH_SLOTS / 2;
/** An attempt that took longer than this, in milliseconds, and was not accepted, is one of a destination that hangs. */
const HUNG_MS = 2_000;
/** Until somebody who found no place asks again, in milliseconds. */
const SHORTEST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 300_000;
/** For so long a webhook is closed where lookups were too many, in milliseconds. */
const CROWDED_MS = 5_000;
/** Whoever waits longer than this, in milliseconds, goes before what is still in the database. */
const QUEUE_MS = 1_000;
/** What begins within this is not worth giving back, in milliseconds. */
const MOMENT_MS = 500;
/** Destinations with nothing under way that are remembered; the rest begin anew. */
const REMEMBERED = 10_000;

/** Attempts under way, and what was learned from them. */
export interface Room {
  underWay: number;
  limit: number;
  /** How long its attempts take, in milliseconds: a moving mean. */
  meanMs: number;
  /** When the next one that finds no place may expect one. */
  nextAt: number;
  /** Since when no place has become free. */
  since: number;
  /** No place is given until then, however many are free. */
  closedUntil: number;
}

/**
 * @param slots attempts of this worker under way at once
 * @param now in milliseconds, on a clock that does not jump
 * @param destinations shared by all who make attempts; how much of the slots an e-shop has is counted here alone
 */
export function createRooms(
  slots: number,
  now: () => number = () => performance.now(),
  destinations: Destinations = createDestinations(),
): Rooms & BatchRooms {
  const { webhooks, hosts } = destinations;
  const eshops = new Map<number, Room>();
  let underWay = 0;

  /** As much as is left free then: one e-shop may take half of all places, the next one half of the rest. */
  const eshopLimit = (own: number) => Math.max(1, Math.floor((slots - underWay + own) / 2));

  /** @returns a place, or the room that is full */
  function placeAt({ eshopId, webhookId, url }: Destination, enteredAt: number): Place | Room {
    const webhook = roomIn(webhooks, webhookId);
    const rooms = [webhook, roomIn(hosts, hostOf(url))];
    const eshop = roomIn(eshops, eshopId);
    eshop.limit = eshopLimit(eshop.underWay);
    const all = [...rooms, eshop];
    const full = all.find((room) => isClosed(room, enteredAt) || room.underWay >= Math.floor(room.limit));
    if (full !== undefined) return full;
    for (const room of all) {
      if (room.underWay === 0) room.since = enteredAt;
      room.underWay += 1;
    }
    underWay += 1;
    return {
      leave(accepted) {
        const leftAt = now();
        const ms = leftAt - enteredAt;
        underWay -= 1;
        for (const room of all) {
          room.underWay -= 1;
          room.since = leftAt;
          room.meanMs += (ms - room.meanMs) / 8;
        }
        for (const room of rooms) learn(room, accepted, ms);
      },
      crowded() {
        const at = now();
        // Of many that find the same at one moment, the first speaks for all.
        if (!isClosed(webhook, at)) webhook.closedUntil = at + CROWDED_MS;
        return webhook.closedUntil - at;
      },
    };
  }

  return {
    enter(destination) {
      const enteredAt = now();
      const found = placeAt(destination, enteredAt);
      return 'leave' in found ? found : waitFor(found, enteredAt);
    },
    limits() {
      const at = now();
      return {
        webhook: FIRST_LIMIT,
        host: FIRST_LIMIT,
        eshop: eshopLimit(0),
        eshops: new Map(
          [...eshops].flatMap(([id, room]) => (room.underWay > 0 ? [[id, eshopLimit(room.underWay)]] : [])),
        ),
        webhooks: limitsIn(webhooks, at),
        hosts: limitsIn(hosts, at),
      };
    },
    admit(destination) {
      const enteredAt = now();
      const found = placeAt(destination, enteredAt);
      if ('leave' in found) return found;
      return !isClosed(found, enteredAt) && paceOf(found, enteredAt) <= MOMENT_MS ? 'soon' : 'later';
    },
    claimLimits() {
      const at = now();
      for (const room of eshops.values()) room.limit = eshopLimit(room.underWay);
      return {
        webhook: FIRST_LIMIT,
        host: FIRST_LIMIT,
        eshop: eshopLimit(0),
        eshops: claimLimitsIn(eshops, at),
        webhooks: claimLimitsIn(webhooks, at),
        hosts: claimLimitsIn(hosts, at),
      };
    },
  };
}

const isClosed = ({ closedUntil }: Room, at: number) => closedUntil > at;

function roomIn<K>(rooms: Map<K, Room>, key: K): Room {
  const known = rooms.get(key);
  if (known !== undefined) return known;
  if (rooms.size >= REMEMBERED) {
    for (const [other, { underWay }] of rooms) if (underWay === 0) rooms.delete(other);
  }
  const room: Room = { underWay: 0, limit: FIRST_LIMIT, meanMs: 1_000, nextAt: 0, since: 0, closedUntil: 0 };
  rooms.set(key, room);
  return room;
}

/** One more with each that is accepted, so that it doubles while all are; half as many with each that hangs. */
function learn(room: Room, accepted: boolean | null, ms: number): void {
  if (accepted === true) {
    room.limit = Math.min(GREATEST_LIMIT, room.limit + 1);
    room.nextAt = 0;
  } else if (accepted === false && ms >= HUNG_MS) room.limit = Math.max(1, room.limit / 2);
}

/**
 * Those who find no place are told to come one after the other, as fast as the room empties; while it does not, after half
 * the time for which it has not, so that they ask ever more seldom.
 */
function waitFor(room: Room, at: number): number {
  if (isClosed(room, at)) return room.closedUntil - at;
  room.nextAt = Math.max(at, room.nextAt) + room.meanMs / Math.max(1, Math.floor(room.limit));
  const waitMs = Math.max(SHORTEST_WAIT_MS, room.nextAt - at, (at - room.since) / 2);
  return Math.min(LONGEST_WAIT_MS, waitMs);
}

function limitsIn<K>(rooms: ReadonlyMap<K, Room>, at: number): ReadonlyMap<K, number> {
  const limits = new Map<K, number>();
  for (const [key, room] of rooms) {
    const { underWay, limit, nextAt } = room;
    const whole = nextAt > at + QUEUE_MS || isClosed(room, at) ? 0 : Math.floor(limit);
    // Who may have more is named only while that is used.
    if (whole < FIRST_LIMIT || underWay > FIRST_LIMIT / 2) limits.set(key, whole);
  }
  return limits;
}

/** How long a place is taken, in milliseconds: no less than nothing has left by now. */
function paceOf({ meanMs, underWay, since }: Room, at: number): number {
  return underWay > 0 ? Math.max(meanMs, at - since) : meanMs;
}

/** Of those that are in use; a room that is full and does not empty gets nothing more. */
function claimLimitsIn<K>(rooms: ReadonlyMap<K, Room>, at: number): ReadonlyMap<K, number> {
  const limits = new Map<K, number>();
  for (const [key, room] of rooms) {
    const { underWay, since, nextAt } = room;
    const limit = Math.floor(room.limit);
    const closed = isClosed(room, at);
    if (!closed && underWay === 0 && limit >= FIRST_LIMIT && at - since > QUEUE_MS) continue;
    const pace = paceOf(room, at);
    const stuck = closed || nextAt > at + QUEUE_MS || (underWay >= limit && pace > MOMENT_MS);
    limits.set(key, stuck ? 0 : Math.floor(limit * Math.max(1, MOMENT_MS / Math.max(1, pace))));
  }
  return limits;
}

/** As the column `webhooks.host` has it. */
function hostOf(url: string): string {
  return /^[a-z]+:\/\/([^/?#]*)/i.exec(url)?.[1]?.toLowerCase() ?? '';
}
