/** The activity that makes the attempts of a delivery's workflow: `makeAttempt` under Temporal's retry policy. */
import { ApplicationFailure, Context } from '@temporalio/activity';
import { ApplicationFailureCategory, type ApplicationFailureOptions } from '@temporalio/common';
import type { AttemptDeps } from '../src/attempt/begin-attempt.ts';
import { InternalFailure } from '../src/attempt/internal-failure.ts';
import { makeAttempt } from '../src/attempt/make-attempt.ts';
import type {
  AttemptDeferral,
  AttemptFailure,
  AttemptOutcome,
  AttemptVerdict,
} from '../src/attempt/outcome.ts';
import { limitReached } from '../src/domain/delivery-state.ts';
import { type AttemptInput, failureTypes } from '../workflows/delivery-types.ts';
import { withHeartbeat } from './with-heartbeat.ts';

export interface AttemptDeliveryDeps extends AttemptDeps {
  /** Signals a failed attempt to the delivery's own workflow; best effort, may throw. */
  readonly signalAttemptFailed: (workflowId: string, attempt: AttemptFailure) => Promise<void>;
}

/**
 * The last chance, after a lost window, is retried until no internal failure interrupts it. Nothing else draws
 * attention to it, so an alarm is raised after every so many tries, about every seven minutes.
 */
const ALARM_EVERY = 100;

export function createAttemptDelivery(deps: AttemptDeliveryDeps) {
  return async function attemptDelivery(input: AttemptInput): Promise<AttemptVerdict> {
    const context = Context.current();
    const { deliveryId, policy, lastChance } = input;
    const counted = input.attemptsBefore + context.info.attempt;
    // The first run may have been requested by an operator: a reset sets Temporal's count back.
    const expectedNumber = context.info.attempt === 1 ? null : counted;
    let outcome: AttemptOutcome;
    try {
      const command = { deliveryId, policy, lastChance, expectedNumber, queue: null };
      outcome = await withHeartbeat(context, (signal) =>
        makeAttempt(deps, command, { stop: signal, abort: signal }),
      );
    } catch (error) {
      if (lastChance && context.info.attempt % ALARM_EVERY === 0) {
        const tries = context.info.attempt;
        deps.watch.alarmed({ alarm: 'lastAttemptBlocked', deliveryId, tries, error });
      }
      throw ourOutage(error, input);
    }
    // The activity waits, as it does between two attempts: a wait in the workflow would cost several times as much as
    // an attempt, and thousands of deliveries may have to wait. A change to the webhook cancels the wait.
    if (outcome.kind === 'deferred')
      throw expected(whyDeferred(outcome), { type: failureTypes.deferred, nextRetryDelay: outcome.ms });
    if (outcome.kind !== 'failed') return outcome;

    await signalWorkflow(deps, deliveryId, outcome);
    const { number, at, nextAttemptAt, message } = outcome;
    // If a step of the clock has moved the window, this was not the last chance after all: the workflow looks again.
    if (nextAttemptAt === null || lastChance) {
      throw expected(message, { type: failureTypes.retriesSpent, nonRetryable: true });
    }
    // The policy's randomized wait, unless `Retry-After` or an outage has changed it.
    const nextRetryDelay = nextAttemptAt.getTime() - at.getTime();
    throw expected(`Attempt ${number}: ${message}`, { type: failureTypes.attemptFailed, nextRetryDelay });
  };
}

function whyDeferred(outcome: AttemptDeferral): string {
  switch (outcome.reason) {
    case 'inactive':
      return `Held: the webhook is inactive. The window ends ${outcome.windowEndsAt.toISOString()}.`;
    case 'paused':
      return `Held: the webhook is paused. It goes on ${outcome.until.toISOString()}.`;
    case 'concurrencyLimit':
      return `Deferred: ${limitReached}.`;
    case 'order':
      return 'Deferred: an older event of the same record goes first.';
  }
}

/** An expected failure, not a fault of the code: no stack trace, and no line in the worker's log. */
function expected(
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

/**
 * An internal failure ends the activity, and the workflow decides how to go on: only an operator can make Temporal
 * run it early. Deferrals raise Temporal's count too, so each failure names its wait. Temporal retries a last chance.
 */
function ourOutage(error: unknown, { lastChance }: AttemptInput): ApplicationFailure {
  const what =
    error instanceof InternalFailure ? error.message : 'Interrupted by a failure of Waybill itself';
  const failure = ApplicationFailure.create({
    message: `${what}: this attempt does not count.`,
    type: failureTypes.ourOutage,
    nonRetryable: !lastChance,
  });
  failure.stack = '';
  return failure;
}

/** Reports a failed attempt to the operator's view; the delivery does not depend on it. */
async function signalWorkflow(
  deps: AttemptDeliveryDeps,
  deliveryId: string,
  failed: AttemptFailure,
): Promise<void> {
  try {
    const { workflowExecution } = Context.current().info;
    if (workflowExecution === undefined) throw new Error('This activity is made for a workflow.');
    await deps.signalAttemptFailed(workflowExecution.workflowId, failed);
  } catch (error) {
    deps.log.debug({ deliveryId, err: error }, 'a failed attempt could not be signaled to the workflow');
  }
}
