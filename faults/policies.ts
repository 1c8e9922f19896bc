/**
 * The retry policies that rounds are played under. Shrunk, with the proportions of the real one kept where a fault
 * depends on them: a wait must be long compared with the fault, or an attempt that is lost with its whole wait is
 * not missed.
 */
import type { RetryPolicy } from '../src/domain/retry-policy.ts';

/** One attempt may take this long, in milliseconds, under every policy. */
const ATTEMPT_TIMEOUT_MS = 3_000;

export const policies = {
  /**
   * The real policy in small (1 : 8,333): 21 attempts, each wait 1.5 times the one before, the last of 6.7 s, 20 s in
   * all. The window has room for every fault.
   */
  scaled: { initialIntervalMs: 3, coefficient: 1.5, maxRetries: 20, windowMs: 120_000 },
  /**
   * The same with a window that leaves little room, as the real one does: an outage towards the end shortens the last
   * wait, or takes the rest of the window away. The room is what the attempts themselves take on a busy machine, and
   * what their receiver takes at the moment of the fault: that time is not ours.
   */
  tight: { initialIntervalMs: 3, coefficient: 1.5, maxRetries: 20, windowMs: 30_000 },
  /** One wait of an hour: whatever a fault puts off by a wait does not come within the round. */
  hours: { initialIntervalMs: 3_600_000, coefficient: 1.5, maxRetries: 1, windowMs: 48 * 3_600_000 },
  /** So few attempts that each may take all its time. They end long before the window does, on a busy machine too. */
  few: { initialIntervalMs: 200, coefficient: 1.5, maxRetries: 3, windowMs: 120_000 },
  /** One long wait, in which an operator orders something. */
  patient: { initialIntervalMs: 25_000, coefficient: 1, maxRetries: 1, windowMs: 120_000 },
  /** A window that ends before an outage does. */
  short: { initialIntervalMs: 3_000, coefficient: 1, maxRetries: 1, windowMs: 4_000 },
} as const satisfies Record<string, Omit<RetryPolicy, 'attemptTimeoutMs'>>;

/** The name of one of them. */
export type PolicyName = keyof typeof policies;

/** Those whose rounds end soonest come first: in `hours` nobody waits for the second attempt. */
const bySoonestEnd: readonly PolicyName[] = ['hours', 'short', 'few', 'patient', 'tight', 'scaled'];

/** The one of these whose rounds end soonest. */
export function soonestOf(names: readonly PolicyName[]): PolicyName | undefined {
  return bySoonestEnd.find((name) => names.includes(name));
}

/** The policy of this name. */
export function policyOf(name: PolicyName): RetryPolicy {
  return { ...policies[name], attemptTimeoutMs: ATTEMPT_TIMEOUT_MS };
}

/** The variables that say it. */
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
