/** The first half of an attempt: from the records to a request that may leave (docs/interface.md, D1–D6). */
import type { Logger } from 'pino';
import { v7 as uuidv7 } from 'uuid';
import type { Limits } from '../concurrency/limits.ts';
import { type BegunAttempt, type DeliveryForAttempt, giveUpAttempt } from '../db/deliveries/attempts.ts';
import { supersedeRetries } from '../db/outbox/supersede-retries.ts';
import type { AttemptRequest, Sender } from '../delivery/sender.ts';
import type { OpenSpan, Traces } from '../traces/traces.ts';
import { beginAttemptSpan } from './attempt-span.ts';
import type { CompensationDeps } from './compensate.ts';
import { skipReasonOf } from './decisions.ts';
import type { AttemptCommand, SkipReason } from './outcome.ts';
import { ownedMs } from './ownership.ts';
import type { Prepare } from './prepare.ts';
import type { AttemptStatements } from './statements.ts';

/** Sends a notice, as `sender.send` sends an attempt. */
export type SendNotice = Sender['sendNotice'];

export interface AttemptDeps extends CompensationDeps {
  readonly statements: AttemptStatements;
  readonly sender: Pick<Sender, 'send'>;
  readonly prepare: Prepare;
  readonly limits: Limits;
  /** Whether the database's disk is full. */
  readonly isDiskFull: () => boolean;
  /**
   * The deliveries whose requests this process has under way. If the database's clock is set ahead, all ownerships in
   * the records end at once; this set keeps the process from making the same attempt twice.
   */
  readonly underWay: Set<string>;
  readonly log: Logger;
  readonly traces: Traces;
}

/** An attempt whose request may leave. */
export interface ReadyAttempt {
  readonly delivery: DeliveryForAttempt;
  readonly number: number;
  readonly begun: BegunAttempt;
  /** The claim token under which the attempt was begun. */
  readonly owner: string;
  /** When the attempt's number was requested, and when it was allocated, on a clock that does not jump. */
  readonly beginAt: number;
  readonly begunAt: number;
  /** When its number was requested, on this machine's clock, which goes on while the machine sleeps. */
  readonly requestedAt: Date;
  readonly request: AttemptRequest;
  /** The code that makes the attempt ends this span. */
  readonly span: OpenSpan;
}

/** The result of beginning an attempt. */
export type Beginning =
  | { readonly kind: 'ready'; readonly attempt: ReadyAttempt }
  | { readonly kind: 'skipped'; readonly reason: SkipReason }
  /** No request can be made from the stored records. */
  | { readonly kind: 'unprepared'; readonly error: unknown }
  /**
   * The delivery was changed after it was read: the attempt of this number has its result, the webhook has changed,
   * the attempt has another owner, or the delivery has superseded older ones.
   */
  | { readonly kind: 'outdated' };

/** Decides about a delivery, prepares its request, and allocates the attempt's number. */
export async function begin(
  { sql, statements, prepare, traces, underWay }: AttemptDeps,
  delivery: DeliveryForAttempt,
  command: AttemptCommand,
): Promise<Beginning> {
  const reason = underWay.has(delivery.id) ? 'underWay' : skipReasonOf(delivery, command);
  if (reason !== null) return { kind: 'skipped', reason };
  const ended = delivery.ordering === 'latest' ? await supersedeRetries(sql, delivery.id) : [];
  if (ended.includes(delivery.id)) return { kind: 'skipped', reason: 'closed' };
  // It may have taken over the count of one of them.
  if (ended.length > 0) return { kind: 'outdated' };
  const number = delivery.attemptsMade + 1;
  let request: Omit<AttemptRequest, 'at'>;
  try {
    request = prepare(delivery, number);
  } catch (error) {
    return { kind: 'unprepared', error };
  }
  const beginAt = performance.now();
  const requestedAt = new Date();
  const owner = uuidv7();
  const begun = await statements.begin({
    deliveryId: delivery.id,
    number,
    generation: delivery.generation,
    webhookVersion: delivery.webhookVersion,
    owner,
    ownedMs: ownedMs(command.policy),
  });
  if (begun === undefined) {
    // An operator may have stopped it since: then the number would stay taken with no one making the attempt.
    await giveUpAttempt(sql, delivery.id, owner);
    return { kind: 'outdated' };
  }
  // DELIVERY_TIMEOUT may have been raised since the delivery got its policy.
  const timeoutMs = command.policy.attemptTimeoutMs;
  return {
    kind: 'ready',
    attempt: {
      delivery,
      number,
      // A window that began with an earlier attempt was moved by the pauses since.
      begun: { ...begun, windowStartedAt: delivery.windowStartedAt ?? begun.windowStartedAt },
      owner,
      beginAt,
      begunAt: performance.now(),
      requestedAt,
      // Not by the database's clock: if that is wrong, receivers would refuse every signature.
      request: { ...request, at: new Date(), timeoutMs },
      span: beginAttemptSpan(traces, delivery, number),
    },
  };
}
