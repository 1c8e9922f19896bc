/**
 * The statements that every attempt needs. Attempts of a process that need the same statement at the same time share
 * one.
 */
import type { Pool } from '../db/connection/pool.ts';
import type { Execute } from '../db/connection/through-sessions.ts';
import {
  beginAttempts,
  type DeliveryForAttempt,
  loadForAttempts,
  type NewAttempt,
} from '../db/deliveries/attempts.ts';
import { type AttemptRecord, recordAttempts } from '../db/deliveries/results.ts';
import { grouped, groupedWrites } from '../db/grouped.ts';
import { settleOrdering } from '../db/outbox/keep-ordering.ts';

/** A delivery that has ended: the deliveries behind it in its ordering group go on. */
export type Ended = Pick<DeliveryForAttempt, 'id' | 'ordering'>;

export type AttemptStatements = ReturnType<typeof createStatements>;

/**
 * The most rows of one statement: a record may have 256 KiB. Too low: more statements. Too high: a large record
 * delays the rows beside it.
 */
const MOST = 32;

/**
 * Statements that list rows in this order usually lock them in it: deadlocks are rare. Postgres does not promise it;
 * after a deadlock each row is repeated alone (`grouped.ts`).
 */
function byDelivery(one: { readonly deliveryId: string }, other: { readonly deliveryId: string }): number {
  return one.deliveryId < other.deliveryId ? -1 : 1;
}

/** @param execute runs the statements that take many times longer to plan than to execute */
export function createStatements(sql: Pool, execute: Execute) {
  return {
    /** @returns undefined if there is no such delivery */
    load: grouped(MOST, async (ids: readonly string[]) => {
      const found = await execute((by) => loadForAttempts(by, ids));
      return (id) => found.get(id);
    }),
    /** @returns undefined if the attempt may not begin: see `beginAttempts` */
    begin: grouped(MOST, async (attempts: readonly NewAttempt[]) => {
      const begun = await execute((by) => beginAttempts(by, attempts.toSorted(byDelivery)));
      return ({ deliveryId }) => begun.get(deliveryId);
    }),
    /** @returns undefined if nothing changed */
    record: grouped(MOST, async (records: readonly AttemptRecord[]) => {
      const recorded = await execute((by) => recordAttempts(by, records.toSorted(byDelivery)));
      return ({ deliveryId }) => recorded.get(deliveryId);
    }),
    settle: groupedWrites(MOST, async (ended: readonly Ended[]) => {
      const latest = ended.some(({ ordering }) => ordering === 'latest');
      await settleOrdering(sql, { records: ended.map(({ id }) => id) }, latest);
    }),
  };
}
