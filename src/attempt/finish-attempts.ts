/**
 * The second half of attempts: the request, and what is recorded of its result. One delivery or many, the steps are the
 * same.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from '../db/pool.ts';
import {
  type AttemptRecord,
  type BatchRun,
  recordAttempts,
  webhookGenerations,
} from '../db/webhooks/attempts.ts';
import type { AttemptResult, Sender } from '../delivery/sender.ts';
import type { ReadyAttempt } from './begin-attempts.ts';
import { recordOf, sentenceOf } from './decisions.ts';
import type { AttemptTerms } from './outcome.ts';
import { OwnFault } from './own-fault.ts';

/** An attempt that has its result. */
export interface AnsweredAttempt extends ReadyAttempt {
  readonly finishedAt: Date;
  readonly result: AttemptResult;
}

/** An attempt as it was recorded; `changed`: false where the delivery had ended elsewhere in the meantime. */
export interface RecordedAttempt {
  readonly record: AttemptRecord;
  readonly changed: boolean;
}

/** Waits between the tries to record results: requests were made, so a short outage must not lose their answers. */
const RECORD_RETRY_WAITS_MS = [100, 200, 400, 800, 1_600, 3_200, 3_200, 3_200];

/**
 * Makes the request of an attempt.
 * @throws OwnFault where Waybill itself failed; AbortError when aborted. The attempt stays begun and without a result:
 * the same number is made again.
 */
export async function send(
  sender: Sender,
  attempt: ReadyAttempt,
  signal: AbortSignal | undefined,
): Promise<AnsweredAttempt> {
  const result = await sender.send(attempt.request, signal);
  if (result.outcome === 'ours') throw new OwnFault(sentenceOf(result));
  return { ...attempt, finishedAt: attempt.clock.now(), result };
}

/**
 * Records results in one statement, and tries that for some seconds.
 * @param batch the batch that made the attempts; null: their own workflows did
 */
export async function record(
  sql: Pool,
  attempts: readonly AnsweredAttempt[],
  terms: Pick<AttemptTerms, 'policy' | 'lastChance'>,
  batch: BatchRun | null,
): Promise<RecordedAttempt[]> {
  const gone = attempts.filter(({ result }) => result.outcome === 'gone');
  const webhookIds = [...new Set(gone.map(({ delivery }) => delivery.webhookId))];
  const generations = await withRetries(() => webhookGenerations(sql, webhookIds));
  const records = attempts.map((attempt) => {
    const { delivery, result } = attempt;
    const stillCurrent =
      result.outcome !== 'gone' || generations.get(delivery.webhookId) === delivery.generation;
    return recordOf(delivery, terms, { ...attempt, stillCurrent });
  });
  const states = await withRetries(() => recordAttempts(sql, records, batch));
  return records.map((each) => ({ record: each, changed: states.has(each.deliveryId) }));
}

/** Tries a step on our own database again for some seconds. */
export async function withRetries<T>(step: () => Promise<T>): Promise<T> {
  for (const wait of RECORD_RETRY_WAITS_MS) {
    try {
      return await step();
    } catch {
      await sleep(wait);
    }
  }
  return await step();
}
