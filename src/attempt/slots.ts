/**
 * Slots for the requests of batches: how many may be under way at once in this process, whatever batch they belong to. A
 * slow receiver keeps the slots of its own requests, and nothing else waits for it.
 */

import { type BatchRate, createBatchRate } from './batch-rate.ts';

/** Slots, and what was promised of them. */
export interface Slots {
  /**
   * Waits for free slots, in the order of asking.
   * @param wanted the most that are of use
   * @returns at least one and at most `wanted`, as many as were free; 0 when `signal` aborts first
   */
  take(wanted: number, signal: AbortSignal): Promise<number>;
  /** Gives slots back that were not used. */
  release(count: number): void;
  /** Gives the slot of an attempt back. */
  ended(): void;
  /**
   * Slots for another batch: free, and neither promised to one that is on its way nor wanted by those that have begun. None
   * while these have enough left: the next one is then a full one.
   */
  unclaimed(): number;
  /**
   * While there are none for another batch: a few, for e-shops that have hardly anything in one, and do not wait for the batches of
   * others. Not for a while after a claim.
   */
  forNewcomers(): number;
  /** E-shops that have much in the batches that were promised slots or hold some. */
  busyEshops(): ReadonlySet<number>;
  /** How many deliveries the next batch may have: what is made within a moment. */
  batchSize(): number;
  /**
   * Sets slots aside for a batch that was claimed, with so many deliveries, until it begins here, or elsewhere.
   * @param busy e-shops that have much in it; default: none
   */
  promise(batchId: string, count: number, busy?: readonly number[]): void;
  /** The batch has begun: it takes slots by itself, and has so many deliveries left to attempt. */
  holds(batchId: string, count: number): void;
  /** The batch takes no slots any more. */
  ends(batchId: string): void;
}

/** Requests of all batches of a worker under way at once. */
export const BATCH_SLOTS = 256;
/**
 * Most requests are answered sooner than the next batch is there: so many deliveries are claimed per free slot. What slow
 * receivers may hold of a batch is bounded by their rooms.
 */
export const PER_SLOT = 8;
/**
 * Deliveries of a batch: a workflow costs Temporal the same whatever its size. But no more than are made within so many
 * milliseconds: whoever comes next waits for it.
 */
const GREATEST_BATCH = 500;
const LEAST_BATCH = 64;
const BATCH_MS = 333;
/**
 * With half of a batch left to begin no slot is idle until the next one is there. With less than that it would be too late,
 * with more every batch would be a small one.
 */
const ENOUGH = 0.5;

/** Deliveries of a batch for newcomers, and how long after the last claim it may come, in milliseconds. */
const NEWCOMERS = 16;
const NEWCOMERS_WAIT_MS = 150;

/** Below this many, taking waits for more to become free, unless it takes this long, in milliseconds. */
const WORTHWHILE = 32;
const PATIENCE_MS = 50;
/** A batch that has not begun here by now runs in another process, in milliseconds. */
const PROMISE_MS = 1_000;

interface Waiter {
  readonly wanted: number;
  /** Any number will do by now. */
  impatient: boolean;
  readonly serve: (count: number) => void;
}

/**
 * @param total of all slots
 * @param now in milliseconds, on a clock that does not jump
 */
export function createSlots(
  total: number,
  rate: BatchRate = createBatchRate(),
  now: () => number = () => performance.now(),
): Slots {
  let free = total;
  /** When something was claimed, or could have been. */
  let claimedAt = Number.NEGATIVE_INFINITY;
  const waiting: Waiter[] = [];
  const promised = new Map<string, { readonly count: number; readonly timer: NodeJS.Timeout }>();
  const held = new Map<string, number>();
  const busyIn = new Map<string, readonly number[]>();

  function serveNext(): void {
    for (let [next] = waiting; next !== undefined; [next] = waiting) {
      const enough = next.impatient ? 1 : Math.min(next.wanted, WORTHWHILE);
      if (free < enough) return;
      waiting.shift();
      const count = Math.min(free, next.wanted);
      free -= count;
      next.serve(count);
    }
  }

  function take(wanted: number, signal: AbortSignal): Promise<number> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve(0);
      const waiter: Waiter = {
        wanted,
        impatient: false,
        serve(count) {
          clearTimeout(timer);
          signal.removeEventListener('abort', giveUp);
          resolve(count);
        },
      };
      const giveUp = () => {
        waiting.splice(waiting.indexOf(waiter), 1);
        waiter.serve(0);
        serveNext();
      };
      const timer = setTimeout(() => {
        waiter.impatient = true;
        serveNext();
      }, PATIENCE_MS);
      signal.addEventListener('abort', giveUp, { once: true });
      waiting.push(waiter);
      serveNext();
    });
  }

  function batchSize(): number {
    const made = Math.round((rate.perSecond() * BATCH_MS) / 1_000);
    return Math.min(GREATEST_BATCH, Math.max(LEAST_BATCH, made));
  }

  /** Deliveries of all batches that have not begun. */
  function left(): number {
    let sum = 0;
    for (const { count } of promised.values()) sum += count;
    for (const count of held.values()) sum += count;
    return sum;
  }

  function release(count: number): void {
    free += count;
    serveNext();
  }

  function keepsPromise(batchId: string): void {
    clearTimeout(promised.get(batchId)?.timer);
    promised.delete(batchId);
  }

  return {
    take,
    release,
    ended() {
      rate.ended(left() === 0);
      release(1);
    },
    unclaimed() {
      const count = left();
      return count > batchSize() * ENOUGH ? 0 : Math.max(0, free - Math.ceil(count / PER_SLOT));
    },
    forNewcomers() {
      if (free < NEWCOMERS || now() - claimedAt < NEWCOMERS_WAIT_MS) return 0;
      claimedAt = now();
      return NEWCOMERS;
    },
    batchSize,
    busyEshops: () => new Set([...busyIn.values()].flat()),
    promise(batchId, count, busy = []) {
      claimedAt = now();
      keepsPromise(batchId);
      const forget = () => {
        promised.delete(batchId);
        if (!held.has(batchId)) busyIn.delete(batchId);
      };
      promised.set(batchId, { count, timer: setTimeout(forget, PROMISE_MS).unref() });
      busyIn.set(batchId, busy);
    },
    holds(batchId, count) {
      keepsPromise(batchId);
      held.set(batchId, count);
    },
    ends(batchId) {
      keepsPromise(batchId);
      held.delete(batchId);
      busyIn.delete(batchId);
    },
  };
}
