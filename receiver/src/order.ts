/** How far each record has come, so that what is out of date is not handed on. */
import type { Delivery } from './delivery.ts';
import { isKind } from './delivery.ts';
import { kinds } from './kinds.ts';

/**
 * Remembers the greatest sequence of each record that was handled. One may serve any number of processes; each method must be atomic.
 * Where a process dies between `begin` and `advance`, its turn runs out. It serves one e-shop: another's records may have the same
 * names.
 */
export interface Order {
  /**
   * Takes the turn of a record, so that one delivery of it is handled at a time.
   * @param record its kind and identifier, as one text
   * @param claimant a new name for each call
   * @param leaseMs how long the turn holds, in milliseconds
   * @returns the greatest sequence that was handled, 0 where none was; `busy` where somebody else has the turn
   */
  begin(record: string, claimant: string, leaseMs: number): Promise<number | 'busy'>;
  /** It was handled: remembered, unless a greater one is, and the turn ends if it is still the claimant's. */
  advance(record: string, claimant: string, sequence: number): Promise<void>;
  /** It was not: the turn ends if it is still the claimant's. */
  release(record: string, claimant: string): Promise<void>;
}

/** @throws TypeError naming what is missing: not every caller is TypeScript */
export function checkOrder(order: Order | undefined): void {
  if (order === undefined) return;
  for (const method of ['begin', 'advance', 'release'] as const)
    if (typeof order[method] !== 'function') throw new TypeError(`The order has no method ${method}.`);
}

/** How an order in memory is set up. */
export interface MemoryOrderOptions {
  /** Milliseconds since 1970 (default: the clock). */
  readonly now?: () => number;
}

/** An order for tests, and for receivers that may hand on something old after a restart. It forgets nothing before. */
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

/** The name of the record of a delivery, that of a test apart from the others; null where its kind is unknown here. */
export function recordOf({ kind, entityId, test }: Delivery): string | null {
  if (!isKind(kind) || entityId === null) return null;
  return `${test ? 'test:' : ''}${kinds[kind].path}/${entityId}`;
}
