/**
 * One attempt of one delivery, from its number to its record (docs/interface.md, D1–D6). It knows the database
 * and the wire, and nothing of who asks for it.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { clockFrom } from '../db/clock.ts';
import type { Pool } from '../db/pool.ts';
import {
  beginAttempt,
  closeDelivery,
  type DeliveryForAttempt,
  deferAttempt,
  loadForAttempt,
  recordAttempt,
  spendRetries,
  startWindow,
  webhookGeneration,
} from '../db/webhooks/deliveries.ts';
import type { AttemptRequest, Sender } from '../delivery/sender.ts';
import { answerTo, justMissed, recordOf, refusalOf, refused, sentenceOf } from './decisions.ts';
import type { AttemptOrder, AttemptOutcome, AttemptVerdict, Refusal } from './outcome.ts';
import { prepare, type SecretKeys } from './prepare.ts';
import type { Rooms } from './rooms.ts';

/** What an attempt receives. */
export interface AttemptDeps {
  readonly sql: Pool;
  readonly sender: Sender;
  readonly keys: SecretKeys;
  readonly rooms: Rooms;
  readonly log: Logger;
}

/** A failure of Waybill itself in the middle of an attempt, as a sentence: it does not count against the receiver. */
export class OwnFault extends Error {
  override readonly name = 'OwnFault';
}

/** Waits between the tries to record a result: a request was made, so a short outage must not lose its answer. */
const RECORD_RETRY_WAITS_MS = [100, 200, 400, 800, 1_600, 3_200, 3_200, 3_200];

/**
 * Makes one attempt and records it, also before it is due: an operator who resets the activity gets one at once.
 * @param signal aborts the request under way (the worker is being stopped)
 * @throws OwnFault where Waybill itself failed; AbortError when aborted; the database's error when it is unreachable.
 * None of them uses up the attempt.
 */
export async function makeAttempt(
  deps: AttemptDeps,
  order: AttemptOrder,
  signal?: AbortSignal,
): Promise<AttemptOutcome> {
  const { sql } = deps;
  const delivery = await loadForAttempt(sql, order.deliveryId);
  if (delivery === undefined) return { kind: 'notAttempted', reason: 'closed' };
  const refusal = refusalOf(delivery, order);
  if (refusal !== null) return await refuse(sql, delivery, refusal);
  const place = deps.rooms.enter(delivery);
  if (typeof place === 'number') {
    await deferAttempt(sql, delivery.id, delivery.attemptsMade, place);
    return refused(delivery, 'noRoom');
  }
  let accepted: boolean | null = null;
  try {
    const outcome = await attempt(deps, order, delivery, signal);
    if (outcome.kind !== 'notAttempted') accepted = outcome.kind === 'delivered';
    return outcome;
  } finally {
    place.leave(accepted);
  }
}

async function attempt(
  deps: AttemptDeps,
  order: AttemptOrder,
  delivery: DeliveryForAttempt,
  signal: AbortSignal | undefined,
): Promise<AttemptOutcome> {
  const { sql, sender } = deps;
  const { deliveryId } = order;
  const number = delivery.attemptsMade + 1;
  let request: Omit<AttemptRequest, 'at'>;
  try {
    request = prepare(deps.keys, delivery, number);
  } catch (error) {
    return await cannotBePrepared(deps, order, error);
  }
  const { generation } = delivery;
  const begun = await beginAttempt(sql, { deliveryId, number, generation });
  if (begun === undefined) throw new OwnFault(`Attempt ${number} already has its result.`);
  const clock = clockFrom(begun.startedAt);

  const result = await sender.send({ ...request, at: begun.startedAt }, signal);
  // The attempt stays begun and without a result: the same number is made again.
  if (result.outcome === 'ours') throw new OwnFault(sentenceOf(result));
  const finishedAt = clock.now();
  const isCurrent = async () => (await webhookGeneration(sql, delivery.webhookId)) === generation;
  const stillCurrent = result.outcome !== 'gone' || (await withRetries(isCurrent));
  const record = recordOf(delivery, order, { number, begun, finishedAt, result, stillCurrent });
  const state = await withRetries(() => recordAttempt(sql, record));
  // Ended elsewhere in the meantime: the caller reads its state again.
  return state === undefined ? { kind: 'notAttempted', reason: 'closed' } : answerTo(record);
}

async function refuse(sql: Pool, delivery: DeliveryForAttempt, reason: Refusal): Promise<AttemptVerdict> {
  if (reason !== 'windowOver' || !justMissed(delivery)) return refused(delivery, reason);
  await spendRetries(sql, delivery.id, delivery.attemptsMade);
  return refused(delivery, 'spent');
}

const CANNOT_BE_PREPARED = 'Waybill cannot prepare this delivery; the receiver is not at fault';

/**
 * No request can be made from the stored records. This may pass (a worker that does not know a new key yet), so it is
 * retried for as long as the window lasts, and then ends as Waybill's own failure: the webhook stays as it is.
 */
async function cannotBePrepared(
  { sql, log }: AttemptDeps,
  { deliveryId, lastChance }: AttemptOrder,
  error: unknown,
): Promise<AttemptVerdict> {
  if (!lastChance) {
    log.error({ deliveryId, err: error, alarm: 'cannotBePrepared' }, 'a delivery cannot be prepared');
    await startWindow(sql, deliveryId);
    throw new OwnFault(CANNOT_BE_PREPARED);
  }
  const { closed } = await closeDelivery(sql, deliveryId, 'expired', CANNOT_BE_PREPARED);
  if (closed) {
    log.error(
      { deliveryId, err: error, alarm: 'windowLost' },
      'a delivery expired because it could not be prepared',
    );
  }
  return { kind: 'notAttempted', reason: 'closed' };
}

/** Tries a step on our own database again for some seconds. */
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
