/** The options of the delivery's activities: the retry policy in Temporal's terms. */
import { ActivityCancellationType, type ActivityOptions } from '@temporalio/workflow';
import { maxAttempts, waitAfterAttempt } from '../src/domain/retry-policy.ts';
import type { DeliverEventInput } from './delivery-types.ts';
import { deliveryTitle } from './operator-view.ts';

/** Extra time for the activity around an attempt: a short outage of the database must not lose the response. */
const ATTEMPT_SLACK_MS = 20_000;
/** Extra time after the window for a last attempt that is under way. */
const WINDOW_SLACK_MS = 30_000;

/**
 * How long until a dead worker is noticed, in milliseconds; the attempt is delayed by as much. Too low: a busy worker
 * would be taken for dead, and its request repeated.
 */
function heartbeatTimeout(attemptTimeoutMs: number): number {
  return Math.min(5_000, Math.max(2_000, attemptTimeoutMs));
}

/**
 * The time-outs of a worker that died or hangs, an internal failure. Temporal would retry only after the policy's
 * next wait, of up to 15 hours. So these are not retried: the workflow looks at the situation and goes on at once.
 */
const OWN_TIMEOUTS = ['TemporalTimeout:Heartbeat', 'TemporalTimeout:StartToClose'];

/**
 * Options of the activity that makes every attempt (docs/interface.md, D6).
 * @param attemptsMade how many attempts have been recorded: the policy continues after them
 * @param windowLeftMs the time until the end of the window
 */
export function attemptOptions(
  input: DeliverEventInput,
  attemptsMade: number,
  windowLeftMs: number,
): ActivityOptions {
  const { policy } = input;
  return {
    startToCloseTimeout: policy.attemptTimeoutMs + ATTEMPT_SLACK_MS,
    heartbeatTimeout: heartbeatTimeout(policy.attemptTimeoutMs),
    scheduleToCloseTimeout: Math.max(0, windowLeftMs) + policy.attemptTimeoutMs + WINDOW_SLACK_MS,
    retry: {
      initialInterval: waitAfterAttempt(policy, attemptsMade + 1),
      backoffCoefficient: policy.coefficient,
      // The default is 100 times the first wait, which would cap the last waits.
      maximumInterval: policy.windowMs,
      maximumAttempts: maxAttempts(policy) - attemptsMade,
      nonRetryableErrorTypes: OWN_TIMEOUTS,
    },
    // A request under way may finish: a success that arrives after the cancellation counts.
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    summary: `${deliveryTitle(input)}: attempts ${attemptsMade + 1}–${maxAttempts(policy)}`.slice(0, 200),
  };
}

/** The longest wait between two tries of a database step, in milliseconds: it prolongs an outage by at most this. */
const LONGEST_OWN_WAIT_MS = 4_000;

/** Options of the last chance, after a lost window: only internal failures are retried, for as long as it takes. */
export function lastChanceOptions(input: DeliverEventInput): ActivityOptions {
  return {
    startToCloseTimeout: input.policy.attemptTimeoutMs + ATTEMPT_SLACK_MS,
    heartbeatTimeout: heartbeatTimeout(input.policy.attemptTimeoutMs),
    retry: { initialInterval: 1_000, backoffCoefficient: 2, maximumInterval: LONGEST_OWN_WAIT_MS },
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    summary: `${deliveryTitle(input)}: one last attempt after the window`.slice(0, 200),
  };
}

/** Options of steps on our own database: they are retried for as long as it takes. */
export const ownStepOptions: ActivityOptions = {
  startToCloseTimeout: 15_000,
  retry: { initialInterval: 500, backoffCoefficient: 2, maximumInterval: LONGEST_OWN_WAIT_MS },
};

/**
 * The heartbeat time-out of the steps that mail. It is long: a mail server that is slow to respond with 250, while
 * Temporal is briefly unavailable, must not get the e-mail twice.
 */
const MAIL_HEARTBEAT_MS = 60_000;

/** Options of the steps that mail. An e-mail must be sent in the end, so the step is retried without limit. */
export const mailOptions = {
  startToCloseTimeout: 120_000,
  heartbeatTimeout: MAIL_HEARTBEAT_MS,
  retry: { initialInterval: 1_000, backoffCoefficient: 2, maximumInterval: 2 * 60_000 },
} satisfies ActivityOptions;
