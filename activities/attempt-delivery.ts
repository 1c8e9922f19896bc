/**
 * The activity that makes every attempt: `makeAttempt` in the terms of Temporal's retry policy.
 * @module
 */
import { ApplicationFailure, Context } from '@temporalio/activity';
import { ApplicationFailureCategory, type ApplicationFailureOptions } from '@temporalio/common';
import { waitAfterAttempt } from '../src/domain/retry-policy.ts';
import {
  type AttemptInput,
  type AttemptVerdict,
  type FailedAttempt,
  failureTypes,
} from '../workflows/delivery-types.ts';
import { alive } from './alive.ts';
import { type AttemptDeps, type AttemptOutcome, makeAttempt } from './make-attempt.ts';

/** What the activity receives. */
export interface AttemptDeliveryDeps extends AttemptDeps {
  /** Tells the delivery's own workflow of a failed attempt; best effort, may throw. */
  readonly signalAttemptFailed: (deliveryId: string, attempt: FailedAttempt) => Promise<void>;
}

/**
 * The wait after a failure of ours, in milliseconds. Short and constant: Temporal's count cannot tell ours from the
 * receiver's, and once it is used up the workflow asks the database patiently before it goes on.
 */
const OUTAGE_WAIT_MS = 1_000;

/** Makes the activity `attemptDelivery`. */
export function createAttemptDelivery(deps: AttemptDeliveryDeps) {
  return async function attemptDelivery(input: AttemptInput): Promise<AttemptVerdict> {
    const context = Context.current();
    const engineAttempt = context.info.attempt;
    let outcome: AttemptOutcome;
    try {
      outcome = await alive(context, (signal) => makeAttempt(deps, input, signal));
    } catch (error) {
      deps.log.warn({ deliveryId: input.deliveryId, err: error }, 'attempt interrupted by an outage of ours');
      throw ourOutage('Interrupted by an outage of ours: this attempt does not count.', OUTAGE_WAIT_MS);
    }
    if (outcome.kind === 'notDue') throw ourOutage('Not due yet after an interruption.', outcome.waitMs);
    if (outcome.kind !== 'failed') return outcome;

    await tell(deps, input.deliveryId, outcome);
    const { number, nextAttemptAt, sentence } = outcome;
    if (nextAttemptAt === null) {
      throw receiverFailure(sentence, { type: failureTypes.retriesSpent, nonRetryable: true });
    }
    // The policy's own wait is left to Temporal, unless its count has run ahead of ours by an outage, or the
    // receiver asked for a longer one.
    const due = nextAttemptAt.getTime() - outcome.at.getTime();
    const engineNumber = input.attemptsBefore + engineAttempt;
    const asPlanned = number === engineNumber && due === waitAfterAttempt(input.policy, engineNumber);
    throw receiverFailure(`Attempt ${number}: ${sentence}`, {
      type: failureTypes.attemptFailed,
      ...(asPlanned ? {} : { nextRetryDelay: due }),
    });
  };
}

/** Expected, and no fault of the code: without a stack trace, and no line in the worker's log. */
function receiverFailure(
  message: string,
  options: Pick<ApplicationFailureOptions, 'type' | 'nonRetryable' | 'nextRetryDelay'>,
): ApplicationFailure {
  const failure = ApplicationFailure.create({
    message,
    ...options,
    category: ApplicationFailureCategory.BENIGN,
  });
  failure.stack = '';
  return failure;
}

function ourOutage(message: string, nextRetryDelay: number): ApplicationFailure {
  const failure = ApplicationFailure.create({ message, type: failureTypes.ourOutage, nextRetryDelay });
  failure.stack = '';
  return failure;
}

/** The operator's view is told of every failed attempt; a delivery does not depend on it. */
async function tell(
  deps: AttemptDeliveryDeps,
  deliveryId: string,
  failed: Extract<AttemptOutcome, { kind: 'failed' }>,
): Promise<void> {
  try {
    await deps.signalAttemptFailed(deliveryId, {
      number: failed.number,
      status: failed.status,
      sentence: failed.sentence,
      at: failed.at.toISOString(),
      nextAttemptAt: failed.nextAttemptAt?.toISOString() ?? null,
    });
  } catch (error) {
    deps.log.debug({ deliveryId, err: error }, 'the workflow was not told of a failed attempt');
  }
}
