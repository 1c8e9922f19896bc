/** The last sequence handled of each record, so that handlers get nothing out of date. */
import type { Delivery } from './delivery.ts';
import { isKind } from './delivery.ts';
import { kinds } from './kinds.ts';

/**
 * Remembers the greatest sequence handled of each record. One order may serve any number of processes; each method
 * must be atomic. If a process dies between `begin` and `advance`, its turn expires. An order serves one e-shop:
 * records of another may have the same names.
 */
export interface Order {
  /**
   * Takes the turn of a record, so that one delivery of it is handled at a time.
   * @param record its kind and identifier, as one text
   * @param claimant a new name for each call
   * @param leaseMs how long the turn holds, in milliseconds
   * @returns the greatest sequence handled, 0 if there is none; `busy` if another claimant has the turn
   */
  begin(record: string, claimant: string, leaseMs: number): Promise<number | 'busy'>;
  /**
   * Called if it was handled: remembers the sequence, unless a greater one is known, and ends the turn if it is
   * still the claimant's.
   */
  advance(record: string, claimant: string, sequence: number): Promise<void>;
  /** Called if it was not handled: ends the turn if it is still the claimant's. */
  release(record: string, claimant: string): Promise<void>;
}

/** @throws TypeError naming the missing method: not every caller uses TypeScript */
export function checkOrder(order: Order | undefined): void {
  if (order === undefined) return;
  for (const method of ['begin', 'advance', 'release'] as const)
    if (typeof order[method] !== 'function') throw new TypeError(`The order has no method ${method}.`);
}

/** Options of an order in memory. */
export interface MemoryOrderOptions {
  /** Milliseconds since 1970 (default: the clock). */
  readonly now?: () => number;
}

/**
 * An order for tests, and for receivers that may handle out-of-date deliveries after a restart. Until then it
 * forgets nothing.
 */
export function memoryOrder({ now = Date.now }: MemoryOrderOptions = {}): Order {
  const turns = new Map<string, { readonly claimant: string; readonly until: number }>();
  const last = new Map<string, number>();
  function end(record: string, claimant: string): void {
    if (turns.get(record)?.claimant === claimant) turns.delete(record);
  }
  return {
    async begin(record, claimant, leaseMs) {
      const turn = turns.get(record);
      if (turn !== undefined && turn.until > now()) return 'busy';
      turns.set(record, { claimant, until: now() + leaseMs });
      return last.get(record) ?? 0;
    },
    async advance(record, claimant, sequence) {
      last.set(record, Math.max(sequence, last.get(record) ?? 0));
      end(record, claimant);
    },
    async release(record, claimant) {
      end(record, claimant);
    },
  };
}

/** The name of a delivery's record, with a prefix for tests; null if the kind is unknown here. */
export function recordOf({ kind, entityId, test }: Delivery): string | null {
  if (!isKind(kind) || entityId === null) return null;
  return `${test ? 'test:' : ''}${kinds[kind].path}/${entityId}`;
}
