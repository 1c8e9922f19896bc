/**
 * The second half of attempts: the request, and the recording of its result. The steps are the same for one delivery or many.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { settleOrder } from '../db/outbox/keep-order.ts';
import {
  type AttemptRecord,
  giveUpAttempt,
  recordAttempts,
  webhookGenerations,
} from '../db/webhooks/attempts.ts';
import type { BatchRun } from '../db/webhooks/batches.ts';
import type { AttemptResult } from '../delivery/sender.ts';
import { endAttemptSpan, endInterrupted } from './attempt-span.ts';
import type { AttemptDeps, ReadyAttempt } from './begin-attempts.ts';
import { recordOf } from './decisions.ts';
import { InternalFailure, LookupsFull } from './internal-failure.ts';
import type { AttemptTerms } from './outcome.ts';
import { LEAVES_WITHIN_MS } from './ownership.ts';
import { toFirstByte } from './stretches.ts';

/** An attempt that has its result. */
export interface AnsweredAttempt extends ReadyAttempt {
  /** When this process took up the delivery, on a clock that does not jump. */
  readonly takenAt: number;
  readonly finishedAt: Date;
  readonly result: AttemptResult;
}

/** An attempt as recorded; `changed`: false if the delivery had ended elsewhere in the meantime. */
interface RecordedAttempt {
  readonly record: AttemptRecord;
  readonly changed: boolean;
}

/** Waits between tries to record results: the requests were made, so a short outage must not lose their answers. */
const RECORD_RETRY_WAITS_MS = [100, 200, 400, 800, 1_600, 3_200, 3_200, 3_200];

/**
 * Makes the request of an attempt.
 * @throws InternalFailure if Waybill itself failed, `LookupsFull` if it is only busy; AbortError when aborted. The attempt stays begun
 * without a result and is given up: it is made again under the same number.
 */
export async function send(
  { sql, sender, underWay }: Pick<AttemptDeps, 'sql' | 'sender' | 'underWay'>,
  attempt: ReadyAttempt & Pick<AnsweredAttempt, 'takenAt'>,
  signal: AbortSignal | undefined,
): Promise<AnsweredAttempt> {
  const { span } = attempt;
  underWay.add(attempt.delivery.id);
  try {
    // This process may have been suspended in the meantime, and another may be making the attempt by now.
    if (performance.now() > attempt.beginAt + LEAVES_WITHIN_MS)
      throw new InternalFailure('This attempt was interrupted before its request left.');
    const result = await span.within(() => sender.send(attempt.request, signal));
    if (result.outcome === 'internal') {
      throw new (result.lookupsFull === true ? LookupsFull : InternalFailure)(result.error);
    }
    return { ...attempt, finishedAt: attempt.clock.now(), result };
  } catch (error) {
    endInterrupted(span);
    // At worst the delivery waits until the ownership ends.
    await giveUpAttempt(sql, attempt.delivery.id, attempt.owner).catch(() => {});
    throw error;
  } finally {
    underWay.delete(attempt.delivery.id);
  }
}

/**
 * Records results in one statement; retries for some seconds.
 * @param batch the batch that made the attempts; null: the relay or the deliveries' own workflows did
 */
export async function record(
  deps: Pick<AttemptDeps, 'sql' | 'execute' | 'watch'>,
  attempts: readonly AnsweredAttempt[],
  terms: Pick<AttemptTerms, 'policy' | 'lastChance'>,
  batch: BatchRun | null,
): Promise<RecordedAttempt[]> {
  try {
    return await recordAll(deps, attempts, terms, batch);
  } catch (error) {
    for (const { span } of attempts) endInterrupted(span);
    throw error;
  }
}

async function recordAll(
  { sql, execute, watch }: Pick<AttemptDeps, 'sql' | 'execute' | 'watch'>,
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
  const states = await withRetries(() => execute((by) => recordAttempts(by, records, batch)));
  for (const [index, attempt] of attempts.entries()) {
    const { delivery, span } = attempt;
    const recorded = records[index];
    if (recorded === undefined) continue;
    const way = toFirstByte(attempt);
    span.within(() => watch.attempted({ ...recorded, delivery, toFirstByte: way }));
    endAttemptSpan(span, recorded, way);
    if (states.get(delivery.id) === 'delivered') watch.ended(delivery.eventType, 'delivered');
  }
  // Deliveries behind them go at once. If this fails, the reconciler repairs it.
  const ended = attempts.filter(
    ({ delivery: { id, ordering } }) => ordering !== 'none' && states.get(id) === 'delivered',
  );
  if (ended.length > 0) {
    const records = ended.map(({ delivery }) => delivery.id);
    const latest = ended.some(({ delivery }) => delivery.ordering === 'latest');
    const [eshopId, another] = new Set(ended.map(({ delivery }) => delivery.eshopId));
    const scope = {
      records,
      ...(eshopId === undefined || another !== undefined ? {} : { ofEshop: eshopId }),
    };
    await settleOrder(sql, scope, latest).catch(() => {});
  }
  return records.map((each) => ({ record: each, changed: states.has(each.deliveryId) }));
}

/** Retries a step on our own database for some seconds. */
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
