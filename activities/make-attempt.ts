/**
 * One attempt of one delivery, from its number to its record (given.md, "Delivery rules" 1–6). Plain: it knows
 * the database and the wire, and nothing of Temporal.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import {
  beginAttempt,
  type DeliveryForAttempt,
  loadForAttempt,
  recordAttempt,
  spendRetries,
  webhookGeneration,
} from '../src/db/deliveries.ts';
import type { Pool } from '../src/db/pool.ts';
import type { AttemptResult, Sender } from '../src/delivery/sender.ts';
import { isOpen } from '../src/domain/delivery-state.ts';
import { packingListEventTypes } from '../src/domain/event-types.ts';
import { render } from '../src/domain/render.ts';
import { maxAttempts, nextAttemptAt } from '../src/domain/retry-policy.ts';
import type { Keys } from '../src/keys.ts';
import type { AttemptInput, AttemptVerdict } from '../workflows/delivery-types.ts';

/** What an attempt receives. */
export interface AttemptDeps {
  readonly sql: Pool;
  readonly sender: Sender;
  readonly keys: Pick<Keys, 'decryptSecret'>;
  readonly log: Logger;
}

/** What came of it. */
export type AttemptOutcome =
  | AttemptVerdict
  | { readonly kind: 'notDue'; readonly waitMs: number }
  | {
      readonly kind: 'failed';
      readonly number: number;
      readonly status: number | null;
      readonly sentence: string;
      readonly at: Date;
      /** null when no attempt is left. */
      readonly nextAttemptAt: Date | null;
    };

/** Clocks of two machines may differ by this much before an attempt counts as too early, in milliseconds. */
const CLOCK_TOLERANCE_MS = 1_000;
/** An attempt later than this, in milliseconds, was missed by an outage of ours rather than by a slow moment. */
const LATENESS_TOLERANCE_MS = 1_000;
/** Waits between the tries to record a result: a request was made, so a short outage must not lose its answer. */
const RECORD_RETRY_WAITS_MS = [100, 200, 400, 800, 1_600, 3_200];

/**
 * Makes one attempt and records it.
 * @param signal aborts the request under way (the worker is being stopped)
 * @throws AbortError when aborted; what the database threw when it is away. Neither uses up the attempt.
 */
export async function makeAttempt(
  deps: AttemptDeps,
  input: AttemptInput,
  signal?: AbortSignal,
): Promise<AttemptOutcome> {
  const { policy, deliveryId } = input;
  const delivery = await loadForAttempt(deps.sql, deliveryId);
  const refusal = delivery === undefined ? 'closed' : whyNot(delivery, input);
  if (delivery === undefined || refusal !== null) {
    if (delivery?.state === 'delivered') {
      // Recorded, and then interrupted before the workflow heard of it.
      return { kind: 'delivered', number: delivery.attemptsMade, status: delivery.lastStatus ?? 200 };
    }
    if (delivery !== undefined && refusal === 'windowOver' && justMissed(delivery)) {
      // Planned inside the window and late by a moment: the retries are spent, and nobody was away.
      await spendRetries(deps.sql, deliveryId, delivery.attemptsMade);
      return { kind: 'notAttempted', reason: 'spent' };
    }
    return { kind: 'notAttempted', reason: refusal ?? 'closed' };
  }
  const early = tooEarlyMs(delivery);
  if (early > 0) return { kind: 'notDue', waitMs: early };

  const number = delivery.attemptsMade + 1;
  const windowStart = await beginAttempt(deps.sql, {
    deliveryId,
    number,
    generation: delivery.generation,
    startedAt: new Date(),
  });
  if (windowStart === undefined) return { kind: 'notDue', waitMs: CLOCK_TOLERANCE_MS };

  const result = await deps.sender.send(requestFor(deps, delivery, number), signal);
  // The attempt stays begun and without a result: the same number is made again.
  if (result.outcome === 'ours') throw new OwnFault(sentenceOf(result));
  const finishedAt = new Date();
  // 410 speaks for the address that was asked: after a change of URL it is a failure like any other.
  const gone = result.outcome === 'gone' && (await persist(() => stillCurrent(deps.sql, delivery)));
  const outcome = result.outcome === 'success' ? 'success' : gone ? 'gone' : 'failure';
  const next =
    outcome !== 'failure' || input.lastChance
      ? null
      : nextAttemptAt(policy, {
          number,
          now: finishedAt.getTime(),
          windowEndsAt: windowStart.getTime() + policy.windowMs,
          retryAfterMs: result.retryAfterMs,
        });
  const nextAt = next === null ? null : new Date(next);
  await persist(() =>
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
      nextAttemptAt: nextAt,
    }),
  );
  if (outcome === 'success') return { kind: 'delivered', number, status: result.status ?? 200 };
  return {
    kind: 'failed',
    number,
    status: result.status,
    sentence: sentenceOf(result),
    at: finishedAt,
    nextAttemptAt: nextAt,
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
function whyNot(delivery: DeliveryForAttempt, { policy, lastChance }: AttemptInput): Refusal | null {
  if (!isOpen(delivery.state)) return 'closed';
  if (delivery.deletedAt !== null) return 'deleted';
  if (delivery.attemptsMade >= maxAttempts(policy)) return 'spent';
  if (delivery.attemptsMade > 0 && delivery.nextAttemptAt === null) return 'spent';
  if (!delivery.active) return 'inactive';
  const { windowStartedAt } = delivery;
  if (!lastChance && windowStartedAt !== null && Date.now() > windowStartedAt.getTime() + policy.windowMs) {
    return 'windowOver';
  }
  return null;
}

/** Whether an attempt comes later than planned by no more than a busy machine may take. */
function justMissed({ nextAttemptAt }: DeliveryForAttempt): boolean {
  return nextAttemptAt !== null && Date.now() - nextAttemptAt.getTime() < LATENESS_TOLERANCE_MS;
}

/** How much too early an attempt comes, in milliseconds: an interrupted one may skip the wait that was recorded. */
function tooEarlyMs(delivery: DeliveryForAttempt): number {
  // A change of the webhook leads to an attempt at once.
  if (delivery.nextAttemptAt === null || delivery.generation !== delivery.lastGeneration) return 0;
  const early = delivery.nextAttemptAt.getTime() - Date.now();
  return early > CLOCK_TOLERANCE_MS ? early : 0;
}

async function stillCurrent(sql: Pool, delivery: DeliveryForAttempt): Promise<boolean> {
  return (await webhookGeneration(sql, delivery.webhookId)) === delivery.generation;
}

function requestFor(deps: AttemptDeps, delivery: DeliveryForAttempt, number: number) {
  return {
    eshopId: delivery.eshopId,
    url: delivery.url,
    method: delivery.method,
    secrets: secretsOf(deps.keys, delivery, new Date()),
    deliveryId: delivery.id,
    eventType: delivery.eventType,
    entityId: delivery.entityId,
    number,
    body:
      delivery.method === 'GET'
        ? null
        : render(delivery.snapshot, {
            version: delivery.payloadVersion,
            withPackingLists:
              delivery.parameters?.withPackingLists === true &&
              packingListEventTypes.includes(delivery.eventType),
          }),
  };
}

/** Newest first. The end of a rotation's overlap is computed here, when signing, not by a clean-up. */
function secretsOf(keys: AttemptDeps['keys'], delivery: DeliveryForAttempt, now: Date): string[] {
  const { previousSecret, previousSecretUntil } = delivery;
  const secrets = [keys.decryptSecret(delivery.secret)];
  if (previousSecret !== null && previousSecretUntil !== null && previousSecretUntil > now) {
    secrets.push(keys.decryptSecret(previousSecret));
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
