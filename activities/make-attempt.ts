/**
 * One attempt of one delivery, from its number to its record (given.md, "Delivery rules" 1–6). Plain: it knows
 * the database and the wire, and nothing of Temporal.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { clockFrom } from '../src/db/clock.ts';
import type { Pool } from '../src/db/pool.ts';
import {
  beginAttempt,
  closeDelivery,
  type DeliveryForAttempt,
  loadForAttempt,
  recordAttempt,
  spendRetries,
  startWindow,
  webhookGeneration,
} from '../src/db/webhooks/deliveries.ts';
import type { AttemptRequest, AttemptResult, Sender } from '../src/delivery/sender.ts';
import { isOpen } from '../src/domain/delivery-state.ts';
import { packingListEventTypes } from '../src/domain/event-types.ts';
import { render } from '../src/domain/render.ts';
import { maxAttempts, nextAttempt } from '../src/domain/retry-policy.ts';
import type { Keys } from '../src/keys.ts';
import type { AttemptInput, AttemptVerdict } from '../workflows/delivery-types.ts';

/** What an attempt receives. */
export interface AttemptDeps {
  readonly sql: Pool;
  readonly sender: Sender;
  readonly keys: Pick<Keys, 'decryptSecret'>;
  readonly log: Logger;
}

/** Which attempt is to be made. */
export interface AttemptOrder extends AttemptInput {
  /**
   * The number that the caller counts by, or null where an operator may have ordered the attempt. A caller that is behind
   * the records has been restored from an older copy: its waits are not those that are due.
   */
  readonly expectedNumber: number | null;
}

/** What came of it. */
export type AttemptOutcome =
  | AttemptVerdict
  | {
      readonly kind: 'failed';
      readonly number: number;
      readonly status: number | null;
      readonly sentence: string;
      readonly at: Date;
      /** null when no attempt is left. */
      readonly nextAttemptAt: Date | null;
    };

/** An attempt later than this, in milliseconds, was missed by an outage of ours rather than by a slow moment. */
const LATENESS_TOLERANCE_MS = 1_000;
/** Waits between the tries to record a result: a request was made, so a short outage must not lose its answer. */
const RECORD_RETRY_WAITS_MS = [100, 200, 400, 800, 1_600, 3_200, 3_200, 3_200];

/**
 * Makes one attempt and records it, also before it is due: an operator who resets the activity gets one at once.
 * @param signal aborts the request under way (the worker is being stopped)
 * @throws OwnFault where something of ours failed; AbortError when aborted; what the database threw when it is away.
 * None of them uses up the attempt.
 */
export async function makeAttempt(
  deps: AttemptDeps,
  input: AttemptOrder,
  signal?: AbortSignal,
): Promise<AttemptOutcome> {
  const { policy, deliveryId, lastChance } = input;
  const delivery = await loadForAttempt(deps.sql, deliveryId);
  if (delivery === undefined) return { kind: 'notAttempted', reason: 'closed' };
  const refusal = whyNot(delivery, input);
  if (refusal !== null) return await refuse(deps, delivery, refusal);

  const number = delivery.attemptsMade + 1;
  const request = prepare(deps, delivery, number);
  if (request instanceof Error) return await cannotBePrepared(deps, input, request);
  const begun = await beginAttempt(deps.sql, { deliveryId, number, generation: delivery.generation });
  if (begun === undefined) throw new OwnFault(`Attempt ${number} already has its result.`);
  const clock = clockFrom(begun.startedAt);

  const result = await deps.sender.send({ ...request, at: begun.startedAt }, signal);
  // The attempt stays begun and without a result: the same number is made again.
  if (result.outcome === 'ours') throw new OwnFault(sentenceOf(result));
  const finishedAt = clock.now();
  // 410 speaks for the address that was asked: after a change of URL it is a failure like any other.
  const gone = result.outcome === 'gone' && (await persist(() => stillCurrent(deps.sql, delivery)));
  const outcome = result.outcome === 'success' ? 'success' : gone ? 'gone' : 'failure';
  const lateMs = latenessMs(delivery, begun.startedAt);
  const next =
    outcome !== 'failure' || lastChance
      ? { at: null, ours: lastChance && outcome === 'failure' }
      : nextAttempt(policy, {
          number,
          now: finishedAt.getTime(),
          windowEndsAt: begun.windowStartedAt.getTime() + policy.windowMs,
          retryAfterMs: result.retryAfterMs,
          lateMs: delivery.lateMs + lateMs,
        });
  const nextAttemptAt = next.at === null ? null : new Date(next.at);
  const state = await persist(() =>
    recordAttempt(deps.sql, {
      deliveryId,
      number,
      generation: delivery.generation,
      outcome,
      finishedAt,
      durationMs: result.durationMs,
      status: result.status,
      error: outcome === 'success' ? null : sentenceOf(result),
      responseExcerpt: result.responseExcerpt,
      nextAttemptAt,
      lateMs,
      windowLost: next.at === null && next.ours,
    }),
  );
  // Ended by somebody else in the meantime: what it ended as is read anew.
  if (state === undefined) return { kind: 'notAttempted', reason: 'closed' };
  if (outcome === 'success') return { kind: 'delivered', number, status: result.status ?? 200 };
  return {
    kind: 'failed',
    number,
    status: result.status,
    sentence: sentenceOf(result),
    at: finishedAt,
    nextAttemptAt,
  };
}

/** A failure of ours in the middle of an attempt, as a sentence: it does not count against the receiver. */
export class OwnFault extends Error {
  override readonly name = 'OwnFault';
}

function sentenceOf(result: AttemptResult): string {
  return result.error ?? `HTTP ${result.status ?? '?'}`;
}

type Refusal = Extract<AttemptVerdict, { kind: 'notAttempted' }>['reason'];

/** Why no request may leave now; null if one may. */
function whyNot(delivery: DeliveryForAttempt, order: AttemptOrder): Refusal | null {
  const { policy, lastChance } = order;
  if (!isOpen(delivery.state)) return 'closed';
  if (delivery.deletedAt !== null) return 'deleted';
  if (delivery.attemptsMade >= maxAttempts(policy)) return 'spent';
  if (delivery.attemptsMade > 0 && delivery.nextAttemptAt === null) return 'spent';
  if (!delivery.active) return 'inactive';
  if (isBehind(delivery, order)) return 'notDue';
  const { windowStartedAt, now } = delivery;
  if (
    !lastChance &&
    windowStartedAt !== null &&
    now.getTime() > windowStartedAt.getTime() + policy.windowMs
  ) {
    return 'windowOver';
  }
  return null;
}

function isBehind(delivery: DeliveryForAttempt, { expectedNumber }: AttemptOrder): boolean {
  const { nextAttemptAt, attemptsMade, now } = delivery;
  if (expectedNumber === null || expectedNumber > attemptsMade || nextAttemptAt === null) return false;
  if (delivery.generation !== delivery.lastGeneration) return false;
  return now.getTime() < nextAttemptAt.getTime() - LATENESS_TOLERANCE_MS;
}

async function refuse(
  deps: AttemptDeps,
  delivery: DeliveryForAttempt,
  reason: Refusal,
): Promise<AttemptVerdict> {
  if (delivery.state === 'delivered') {
    // Recorded, and then interrupted before the workflow heard of it.
    return { kind: 'delivered', number: delivery.attemptsMade, status: delivery.lastStatus ?? 200 };
  }
  if (reason === 'windowOver' && justMissed(delivery)) {
    // Planned inside the window and late by a moment: the retries are spent, and nobody was away.
    await spendRetries(deps.sql, delivery.id, delivery.attemptsMade);
    return { kind: 'notAttempted', reason: 'spent' };
  }
  return { kind: 'notAttempted', reason };
}

/** Whether an attempt comes later than planned by no more than a busy machine may take. */
function justMissed({ nextAttemptAt, now }: DeliveryForAttempt): boolean {
  return nextAttemptAt !== null && now.getTime() - nextAttemptAt.getTime() < LATENESS_TOLERANCE_MS;
}

/**
 * How much later than due an attempt begins by an outage of ours, in milliseconds. The first one is due when its
 * window starts; a change of the webhook makes one due, and what was held until then is not late.
 */
function latenessMs(delivery: DeliveryForAttempt, startedAt: Date): number {
  const planned = delivery.attemptsMade === 0 ? delivery.windowStartedAt : delivery.nextAttemptAt;
  if (planned === null) return 0;
  const due = Math.max(planned.getTime(), delivery.generationAt?.getTime() ?? 0);
  const late = startedAt.getTime() - due;
  return late < LATENESS_TOLERANCE_MS ? 0 : late;
}

async function stillCurrent(sql: Pool, delivery: DeliveryForAttempt): Promise<boolean> {
  return (await webhookGeneration(sql, delivery.webhookId)) === delivery.generation;
}

/** The request of an attempt, or what kept us from making it: a secret that cannot be decrypted, a broken snapshot. */
function prepare(
  deps: AttemptDeps,
  delivery: DeliveryForAttempt,
  number: number,
): Omit<AttemptRequest, 'at'> | Error {
  const { id: deliveryId, eshopId, url, method, eventType, entityId } = delivery;
  try {
    const secrets = secretsOf(deps.keys, delivery);
    const body =
      method === 'GET'
        ? null
        : render(delivery.snapshot, {
            version: delivery.payloadVersion,
            withPackingLists:
              delivery.parameters?.withPackingLists === true && packingListEventTypes.includes(eventType),
          });
    return { eshopId, url, method, secrets, deliveryId, eventType, entityId, number, body };
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

const CANNOT_BE_PREPARED = 'Waybill cannot prepare this delivery: the fault is its own';

/**
 * No request can be made of what we have. It may pass (a worker that does not know a new key yet), so it is tried
 * again for as long as the window lasts, and then ends as our failure: the webhook stays as it is.
 */
async function cannotBePrepared(
  deps: AttemptDeps,
  { deliveryId, lastChance }: AttemptInput,
  error: Error,
): Promise<AttemptVerdict> {
  deps.log.error({ deliveryId, err: error, alarm: 'cannotBePrepared' }, 'a delivery cannot be prepared');
  if (lastChance) return await giveUp(deps, deliveryId, CANNOT_BE_PREPARED);
  await startWindow(deps.sql, deliveryId);
  throw new OwnFault(CANNOT_BE_PREPARED);
}

/** Newest first. The end of a rotation's overlap is computed here, when signing, not by a clean-up. */
function secretsOf(keys: AttemptDeps['keys'], delivery: DeliveryForAttempt): string[] {
  const { previousSecret, previousSecretUntil, now } = delivery;
  const secrets = [keys.decryptSecret(delivery.secret, delivery)];
  if (previousSecret !== null && previousSecretUntil !== null && previousSecretUntil > now) {
    secrets.push(keys.decryptSecret(previousSecret, delivery));
  }
  return secrets;
}

/** Tries a step on our own database again for some seconds. */
async function persist<T>(step: () => Promise<T>): Promise<T> {
  for (const wait of RECORD_RETRY_WAITS_MS) {
    try {
      return await step();
    } catch {
      await sleep(wait);
    }
  }
  return await step();
}

/** Ends a delivery as a failure of ours: the webhook stays as it is. */
async function giveUp(deps: AttemptDeps, deliveryId: string, error: string): Promise<AttemptVerdict> {
  const { closed } = await closeDelivery(deps.sql, deliveryId, 'expired', error);
  if (closed)
    deps.log.error({ deliveryId, alarm: 'windowLost', error }, 'a delivery expired by a failure of ours');
  return { kind: 'notAttempted', reason: 'closed' };
}
