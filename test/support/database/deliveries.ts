/** Deliveries made and recorded as the product does. */
import type { Pool } from '../../../src/db/connection/pool.ts';
import { type BegunAttempt, beginAttempts, type NewAttempt } from '../../../src/db/deliveries/attempts.ts';
import { compensate } from '../../../src/db/deliveries/compensation.ts';
import { type AttemptRecord, recordAttempts } from '../../../src/db/deliveries/results.ts';
import { transaction } from '../../../src/db/transaction.ts';
import type { StoredState } from '../../../src/domain/delivery-state.ts';
import { recordEvent } from './record-event.ts';

/** Fires an event; answers the id of its delivery to one of the webhooks. */
export async function fireDelivery(
  sql: Pool,
  { eshopId, webhookId, entityId = '1' }: { eshopId: number; webhookId: number; entityId?: string },
): Promise<string> {
  await transaction(sql, (tx) => recordEvent(tx, { eshopId, type: 'CREATE_ORDER', entityId, record: {} }));
  const [row] = await sql<{ id: string }[]>`
    select id from deliveries where webhook_id = ${webhookId} order by id desc limit 1`;
  if (row === undefined) throw new Error('the event has no delivery to the webhook');
  return row.id;
}

/** Attempts owned for 0 ms, so that anyone may begin them again at once, of webhooks that nobody has read. */
export const owned = {
  webhookVersion: null,
  owner: '01990000-0000-7000-8000-00000000000a',
  ownedMs: 0,
} as const;

/** Begins one attempt of a delivery. */
export async function beginAttempt(
  sql: Pool,
  attempt: Pick<NewAttempt, 'deliveryId' | 'number' | 'generation'> & Partial<NewAttempt>,
): Promise<BegunAttempt | undefined> {
  return (await beginAttempts(sql, [{ ...owned, ...attempt }])).get(attempt.deliveryId);
}

/** Records the result of an attempt. */
export async function recordAttempt(sql: Pool, record: AttemptRecord): Promise<StoredState | undefined> {
  return (await recordAttempts(sql, [record])).get(record.deliveryId)?.state;
}

/** The result of a first attempt as it is recorded; by default a failure with no attempt left. */
export function attemptRecord(deliveryId: string, change: Partial<AttemptRecord> = {}): AttemptRecord {
  return {
    deliveryId,
    webhookId: 0,
    number: 1,
    owner: owned.owner,
    generation: 1,
    outcome: 'failure',
    finishedAt: new Date(),
    durationMs: 1,
    status: 503,
    error: 'HTTP 503',
    responseExcerpt: null,
    nextAttemptAt: null,
    lateMs: 0,
    windowLost: false,
    lastCall: false,
    plan: null,
    ...change,
  };
}

/** Records the result of an attempt that has begun; by default a failure with no attempt left. */
export function finishAttempt(
  sql: Pool,
  deliveryId: string,
  number: number,
  result: Partial<AttemptRecord> = {},
) {
  return recordAttempt(sql, attemptRecord(deliveryId, { number, ...result }));
}

/** Makes an attempt, with the result of {@link finishAttempt}. */
export async function makeAttempt(
  sql: Pool,
  deliveryId: string,
  number: number,
  result: Partial<AttemptRecord> = {},
): Promise<void> {
  await beginAttempt(sql, { deliveryId, number, generation: 1 });
  await finishAttempt(sql, deliveryId, number, result);
}

/** The result of an attempt that the receiver accepted. */
export const accepted = { outcome: 'success', status: 200, error: null } as const;

/** Exhausts the retries of a delivery, which deactivates its webhook. */
export async function exhaustDelivery(
  sql: Pool,
  deliveryId: string,
  result: Partial<AttemptRecord> = {},
): Promise<void> {
  await makeAttempt(sql, deliveryId, 21, result);
  await compensate(sql, deliveryId);
}

/** The fields of a claimed delivery before its first attempt, besides its ids. */
export const neverAttempted = {
  claimId: '01990000-0000-7000-8000-00000000000c',
  traceparent: null,
  state: 'pending',
  attemptsMade: 0,
  lastStatus: null,
  failures: null,
  isBlocked: false,
} as const;
