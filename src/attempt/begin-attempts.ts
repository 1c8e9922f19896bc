/**
 * The first half of attempts: from the records to requests that may leave (docs/interface.md, D1–D6). The steps are the same for one
 * delivery or many.
 */
import type { Logger } from 'pino';
import { v7 as uuidv7 } from 'uuid';
import type { Limits } from '../concurrency/limits.ts';
import { type Clock, clockFrom } from '../db/clock.ts';
import { supersedeRetries } from '../db/outbox/keep-order.ts';
import type { Pool } from '../db/pool.ts';
import type { Execute } from '../db/through-sessions.ts';
import { type BegunAttempt, beginAttempts, type DeliveryForAttempt } from '../db/webhooks/attempts.ts';
import type { BatchRun } from '../db/webhooks/batches.ts';
import type { AttemptRequest, Sender } from '../delivery/sender.ts';
import { yieldToEventLoop } from '../lib/yield-to-event-loop.ts';
import type { OpenSpan, Traces } from '../traces/traces.ts';
import { beginAttemptSpan } from './attempt-span.ts';
import { refusalOf } from './decisions.ts';
import type { AttemptTerms, Refusal } from './outcome.ts';
import { ownedMs } from './ownership.ts';
import { type Prepare, prepare, type SecretKeys } from './prepare.ts';
import type { DeliveryWatch } from './watch.ts';

export interface AttemptDeps {
  readonly sql: Pool;
  /** The statements that every attempt needs: reading it, beginning it, recording it. */
  readonly execute: Execute;
  readonly sender: Pick<Sender, 'send'>;
  readonly keys: SecretKeys;
  readonly limits: Limits;
  /**
   * The deliveries whose requests this process has under way. If the database's clock is set ahead, all ownership in the records ends
   * at once; this set keeps the process from making the same attempt twice.
   */
  readonly underWay: Set<string>;
  readonly log: Logger;
  readonly watch: DeliveryWatch;
  readonly traces: Traces;
}

/** An attempt whose request may leave. */
export interface ReadyAttempt {
  readonly delivery: DeliveryForAttempt;
  readonly number: number;
  readonly begun: BegunAttempt;
  /** The mark under which it was begun. */
  readonly owner: string;
  /** When its number was requested and when it was allocated, on a clock that does not jump. */
  readonly beginAt: number;
  readonly begunAt: number;
  /** The database's clock, carried on from the beginning of the attempt. */
  readonly clock: Clock;
  readonly request: AttemptRequest;
  /** Ended by the code that makes the attempt. */
  readonly span: OpenSpan;
}

/** The result of beginning attempts of a group of deliveries. */
export interface Beginnings {
  readonly ready: readonly ReadyAttempt[];
  readonly refused: readonly { readonly delivery: DeliveryForAttempt; readonly reason: Refusal }[];
  /** No request can be made from the stored records. */
  readonly unprepared: readonly { readonly delivery: DeliveryForAttempt; readonly error: unknown }[];
  /** Changed since they were read: the number has its result, the webhook has changed, or the delivery has another owner. */
  readonly outdated: readonly DeliveryForAttempt[];
}

/**
 * Decides about each delivery, prepares the requests, and allocates the numbers of those that may leave, in one statement.
 * @param batch the batch that holds the deliveries; null: the relay or a delivery's own workflow does
 */
export async function begin(
  { sql, execute, keys, traces, underWay }: AttemptDeps,
  deliveries: readonly DeliveryForAttempt[],
  terms: AttemptTerms,
  batch: (BatchRun & { readonly span?: OpenSpan }) | null,
  prepareWith: Prepare = (delivery, number) => prepare(keys, delivery, number),
): Promise<Beginnings> {
  const refused: { delivery: DeliveryForAttempt; reason: Refusal }[] = [];
  const unprepared: { delivery: DeliveryForAttempt; error: unknown }[] = [];
  const prepared: { delivery: DeliveryForAttempt; number: number; request: Omit<AttemptRequest, 'at'> }[] =
    [];
  const refusal = (each: DeliveryForAttempt) => (underWay.has(each.id) ? 'underWay' : refusalOf(each, terms));
  const latest = deliveries.filter((each) => each.ordering === 'latest' && refusal(each) === null);
  const ended = await supersedeRetries(
    sql,
    latest.map(({ id }) => id),
  );
  const pause = yieldToEventLoop();
  for (const delivery of deliveries) {
    await pause();
    const reason = ended.has(delivery.id) ? 'closed' : refusal(delivery);
    if (reason !== null) {
      refused.push({ delivery, reason });
      continue;
    }
    const number = delivery.attemptsMade + 1;
    try {
      prepared.push({ delivery, number, request: prepareWith(delivery, number) });
    } catch (error) {
      unprepared.push({ delivery, error });
    }
  }
  const wanted = prepared.map(({ delivery: { id, generation }, number }) => ({
    deliveryId: id,
    number,
    generation,
  }));
  const beginAt = performance.now();
  const owner = uuidv7();
  const begun = await execute((by) => beginAttempts(by, wanted, batch, { owner, ms: ownedMs(terms.policy) }));
  const begunAt = performance.now();
  const ready: ReadyAttempt[] = [];
  const outdated: DeliveryForAttempt[] = [];
  for (const { delivery, number, request } of prepared) {
    const one = begun.get(delivery.id);
    if (one === undefined) {
      outdated.push(delivery);
      continue;
    }
    const clock = clockFrom(one.startedAt);
    const span = beginAttemptSpan(traces, delivery, number, batch?.span);
    const attempt = { delivery, number, begun: one, owner, beginAt, begunAt, clock, span };
    // DELIVERY_TIMEOUT may have been raised since the delivery got its policy.
    const timeoutMs = terms.policy.attemptTimeoutMs;
    ready.push({ ...attempt, request: { ...request, at: one.startedAt, timeoutMs } });
  }
  return { ready, refused, unprepared, outdated };
}
