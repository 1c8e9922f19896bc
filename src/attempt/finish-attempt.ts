/** The second half of an attempt: the request, and the recording of its result. */
import { setTimeout as sleep } from 'node:timers/promises';
import { giveUpAttempt, webhookGeneration } from '../db/deliveries/attempts.ts';
import type { AttemptRecord } from '../db/deliveries/results.ts';
import type { AttemptResult } from '../delivery/sender.ts';
import { endAttemptSpan, endInterrupted } from './attempt-span.ts';
import type { AttemptDeps, ReadyAttempt } from './begin-attempt.ts';
import { compensateAndReport } from './compensate.ts';
import { recordOf } from './decisions.ts';
import { InternalFailure, LookupsFull } from './internal-failure.ts';
import type { AttemptCommand } from './outcome.ts';
import { MAX_START_DELAY_MS } from './ownership.ts';
import { toFirstByte } from './phases.ts';

/** An attempt that has its result. */
interface AnsweredAttempt extends ReadyAttempt {
  /** When this process took the delivery, on a clock that does not jump. */
  readonly takenAt: number;
  readonly finishedAt: Date;
  readonly result: AttemptResult;
}

/**
 * The waits between tries to record a result, in milliseconds: a short outage must not lose the receiver's answer.
 */
const RECORD_RETRY_WAITS_MS = [100, 200, 400, 800, 1_600, 3_200, 3_200, 3_200];

/**
 * Makes the request of an attempt.
 * @throws InternalFailure if Waybill itself failed, `LookupsFull` if it is only busy; AbortError when aborted. The
 * attempt then stays begun without a result, and is given up: it is made again under the same number.
 */
export async function send(
  { sql, sender, underWay }: Pick<AttemptDeps, 'sql' | 'sender' | 'underWay'>,
  attempt: ReadyAttempt & Pick<AnsweredAttempt, 'takenAt'>,
  signal: AbortSignal | undefined,
): Promise<AnsweredAttempt> {
  const { span } = attempt;
  underWay.add(attempt.delivery.id);
  try {
    // This process may have been suspended, and another one may be making the attempt by now. If the clock was set
    // ahead, the attempt is made again for nothing.
    const delaysMs = [performance.now() - attempt.beginAt, Date.now() - attempt.requestedAt.getTime()];
    if (Math.max(...delaysMs) > MAX_START_DELAY_MS)
      throw new InternalFailure('This attempt was interrupted before its request left.');
    const result = await span.within(() => sender.send(attempt.request, signal));
    if (result.outcome === 'internal') {
      throw new (result.lookupsFull === true ? LookupsFull : InternalFailure)(result.error);
    }
    // By the database's clock, carried on from the beginning.
    const sinceBegun = Math.round(performance.now() - attempt.begunAt);
    return { ...attempt, finishedAt: new Date(attempt.begun.startedAt.getTime() + sinceBegun), result };
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
 * Records a result and its consequences; retries for some seconds.
 * @returns null if nothing changed, since another process had ended the delivery
 */
export async function record(
  deps: Pick<AttemptDeps, 'sql' | 'statements' | 'watch' | 'log' | 'compensations'>,
  attempt: AnsweredAttempt,
  command: Pick<AttemptCommand, 'policy' | 'lastChance' | 'queue'>,
): Promise<AttemptRecord | null> {
  const { sql, statements, watch, log, compensations } = deps;
  const { delivery, result, span } = attempt;
  const { id, webhookId, ordering } = delivery;
  try {
    const isGone = result.outcome === 'gone';
    const stillCurrent =
      !isGone || (await withRetries(() => webhookGeneration(sql, webhookId))) === delivery.generation;
    const planned = recordOf(delivery, command, { ...attempt, stillCurrent });
    const after = await withRetries(() => statements.record(planned));
    const recorded = after === undefined ? planned : { ...planned, nextAttemptAt: after.nextAttemptAt };
    const way = toFirstByte(attempt);
    span.within(() => watch.attempted({ ...recorded, delivery, toFirstByte: way }));
    endAttemptSpan(span, recorded, way);
    if (after?.state === 'delivered') {
      watch.ended(delivery.eventType, 'delivered');
      // The deliveries behind this one go at once. If this fails, the relay repairs it.
      if (ordering !== 'none') await statements.settle({ id, ordering }).catch(() => {});
    }
    if (after !== undefined && recorded.outcome === 'gone') {
      // The compensation is made now, so that no further request is sent even while Temporal is unavailable. If this
      // fails, the workflow makes it.
      const compensated = compensations.run(webhookId, () => compensateAndReport(sql, watch, id));
      await compensated.catch((error: unknown) =>
        log.warn({ deliveryId: id, err: error }, 'the compensation after a 410 is left to the workflow'),
      );
    }
    return after === undefined ? null : recorded;
  } catch (error) {
    endInterrupted(span);
    throw error;
  }
}

/** Retries a step on our own database for some seconds. */
async function withRetries<T>(step: () => Promise<T>): Promise<T> {
  for (const wait of RECORD_RETRY_WAITS_MS) {
    try {
      return await step();
    } catch {
      await sleep(wait);
    }
  }
  return await step();
}
