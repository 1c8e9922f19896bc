/**
 * The statements that every attempt needs. Attempts of a process that need the same statement at the same time share
 * one.
 */
import type { Pool } from '../db/connection/pool.ts';
import type { Execute } from '../db/connection/through-sessions.ts';
import {
  type BegunAttempt,
  beginAttempts,
  type DeliveryForAttempt,
  loadForAttempts,
  type NewAttempt,
} from '../db/deliveries/attempts.ts';
import { type AttemptRecord, type Recorded, recordAttempts } from '../db/deliveries/results.ts';
import { grouped, groupedWrites } from '../db/grouped.ts';
import { settleOrdering } from '../db/outbox/keep-ordering.ts';

/** A delivery that has ended: the deliveries behind it in its ordering group go on. */
export type Ended = Pick<DeliveryForAttempt, 'id' | 'ordering'>;

export interface AttemptStatements {
  /** @returns undefined if there is no such delivery */
  load(deliveryId: string): Promise<DeliveryForAttempt | undefined>;
  /** @returns undefined if the attempt may not begin: see `beginAttempts` */
  begin(attempt: NewAttempt): Promise<BegunAttempt | undefined>;
  /** @returns undefined if nothing changed */
  record(record: AttemptRecord): Promise<Recorded | undefined>;
  settle(ended: Ended): Promise<void>;
}

/**
 * The most rows of one statement: a record may have 256 KiB. Fewer: more statements. More: a large record delays the
 * rows beside it.
 */
const MOST = 32;

/** All statements lock rows in this order, so that they cannot deadlock. */
function byDelivery(one: { readonly deliveryId: string }, other: { readonly deliveryId: string }): number {
  return one.deliveryId < other.deliveryId ? -1 : 1;
}

/** @param execute runs the statements that take many times longer to plan than to execute */
export function createStatements(sql: Pool, execute: Execute): AttemptStatements {
  return {
    load: grouped(MOST, async (ids) => {
      const found = await execute((by) => loadForAttempts(by, ids));
      return (id) => found.get(id);
    }),
    begin: grouped(MOST, async (attempts) => {
      const begun = await execute((by) => beginAttempts(by, attempts.toSorted(byDelivery)));
      return ({ deliveryId }) => begun.get(deliveryId);
    }),
    record: grouped(MOST, async (records) => {
      const recorded = await execute((by) => recordAttempts(by, records.toSorted(byDelivery)));
      return ({ deliveryId }) => recorded.get(deliveryId);
    }),
    settle: groupedWrites(MOST, async (ended) => {
      const latest = ended.some(({ ordering }) => ordering === 'latest');
      await settleOrdering(sql, { records: ended.map(({ id }) => id) }, latest);
    }),
  };
}
