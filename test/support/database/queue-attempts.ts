/** Attempts from the queue without a request: begun and recorded as the product does, with a test's result. */
import { verdictOf } from '../../../src/attempt/decisions.ts';
import type { AttemptFailure, AttemptVerdict, QueueTerms } from '../../../src/attempt/outcome.ts';
import type { Pool } from '../../../src/db/connection/pool.ts';
import type { AttemptRecord } from '../../../src/db/deliveries/results.ts';
import type { QueuedDelivery } from '../../../src/db/outbox/outbox.ts';
import { accepted, attemptRecord, beginAttempt, recordAttempt } from './deliveries.ts';

/** @param result by default it is accepted */
export async function attemptFromQueue(
  sql: Pool,
  { id, attemptsMade }: Pick<QueuedDelivery, 'id' | 'attemptsMade'>,
  { claimId, handOver }: Pick<QueueTerms, 'claimId' | 'handOver'>,
  result: Partial<AttemptRecord> = accepted,
): Promise<AttemptVerdict | AttemptFailure> {
  const number = attemptsMade + 1;
  await beginAttempt(sql, { deliveryId: id, number, generation: 1 });
  const workflow = handOver(result.outcome === 'success', number);
  const plan = { claimId, workflow, firstWaitMs: 40 };
  const record = attemptRecord(id, { number, ...result, plan });
  await recordAttempt(sql, record);
  return verdictOf(record);
}
