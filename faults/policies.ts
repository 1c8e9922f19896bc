/**
 * The retry policies of rounds: scaled down, but in the real one's proportions where a fault depends on them. A wait
 * must be long compared with the fault, or an attempt that is lost with its wait goes unnoticed.
 */
import type { RetryPolicy } from '../src/domain/retry-policy.ts';

/** The time-out of an attempt under every policy, in milliseconds. */
const ATTEMPT_TIMEOUT_MS = 3_000;

export const policies = {
  /** The real policy at 1 : 8,333: 21 attempts, waits growing by half to 6.7 s, 20 s in all. Any fault fits in. */
  scaled: { initialIntervalMs: 3, coefficient: 1.5, maxRetries: 20, windowMs: 120_000 },
  /**
   * The same with a window as narrow as the real one's: a late outage shortens the last wait, or takes the rest of
   * the window. Its room is for attempts on a busy machine, and for receivers at the fault, whose time is no outage.
   */
  tight: { initialIntervalMs: 3, coefficient: 1.5, maxRetries: 20, windowMs: 30_000 },
  /** One wait of an hour: if a fault delays an attempt by a whole wait, it does not come within the round. */
  hours: { initialIntervalMs: 3_600_000, coefficient: 1.5, maxRetries: 1, windowMs: 48 * 3_600_000 },
  /** Few attempts: even if each takes its full time-out on a busy machine, all end long before the window. */
  few: { initialIntervalMs: 200, coefficient: 1.5, maxRetries: 3, windowMs: 120_000 },
  /** One long wait for an operator's action: longer than a delivery waits in the queue, without a workflow. */
  patient: { initialIntervalMs: 65_000, coefficient: 1, maxRetries: 1, windowMs: 180_000 },
  /** A window that ends before an outage does. */
  short: { initialIntervalMs: 3_000, coefficient: 1, maxRetries: 1, windowMs: 4_000 },
} as const satisfies Record<string, Omit<RetryPolicy, 'attemptTimeoutMs'>>;

/** The name of a policy. */
export type PolicyName = keyof typeof policies;

/** Policies whose rounds end soonest come first: with `hours` a round does not wait for the second attempt. */
const bySoonestEnd: readonly PolicyName[] = ['hours', 'short', 'few', 'patient', 'tight', 'scaled'];

/** The policy among these whose rounds end soonest. */
export function soonestOf(names: readonly PolicyName[]): PolicyName | undefined {
  return bySoonestEnd.find((name) => names.includes(name));
}

/** The policy with this name. */
export function policyOf(name: PolicyName): RetryPolicy {
  return { ...policies[name], attemptTimeoutMs: ATTEMPT_TIMEOUT_MS };
}

/** The environment variables of the policy. */
export function policyVariables(name: PolicyName): Record<string, string> {
  const policy = policyOf(name);
  return {
    RETRY_INITIAL_INTERVAL: `${policy.initialIntervalMs}ms`,
    RETRY_COEFFICIENT: String(policy.coefficient),
    RETRY_MAX: String(policy.maxRetries),
    RETRY_WINDOW: `${policy.windowMs}ms`,
    DELIVERY_TIMEOUT: `${policy.attemptTimeoutMs}ms`,
  };
}
