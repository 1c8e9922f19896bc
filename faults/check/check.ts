/**
 * The checker: compares observations with promises. A 200 means that a change is delivered, or its failure recorded
 * and mailed; 21 attempts, each after its wait; an outage is never the receiver's failure.
 */

import type { RetryPolicy } from '../../src/domain/retry-policy.ts';
import type { Setting } from '../../test/support/harness/settings.ts';
import type { Evidence } from '../evidence.ts';
import type { Logbook } from '../logbook.ts';
import type { Moment } from '../moments.ts';
import { checkAttempts } from './attempts.ts';
import { checkDeactivations } from './deactivations.ts';
import { checkOutcomes } from './outcomes.ts';
import { type Violation, violation } from './violation.ts';
import { checkWorkflows } from './workflows.ts';

export type { Violation } from './violation.ts';

/** The result of a round. */
export interface Verdict {
  /** Deliveries expected: accepted changes × their webhooks. */
  readonly accepted: number;
  readonly delivered: number;
  /** Repeated requests of attempts, all of them in flight at a fault. */
  readonly repeated: number;
  /** Deliveries of which Temporal has no workflow. */
  readonly withoutWorkflow: number;
  /** The moments at which kills met attempts, one for each. */
  readonly killedAt: readonly Moment[];
  /** The greatest delay of an attempt beyond its plan, in milliseconds. */
  readonly latestMs: number;
  readonly violations: readonly Violation[];
}

/**
 * Whether a round says nothing, since waits of milliseconds took seconds: the machine was busy most of the time, and
 * nothing is broken but times.
 */
export function isUndecided({ violations }: Pick<Verdict, 'violations'>, busyMs: number, tookMs: number) {
  return violations.length > 0 && violations.every(({ kind }) => kind === 'late') && busyMs >= tookMs / 2;
}

/** Judges a round; pure. */
export function check(
  policy: RetryPolicy,
  workflows: Setting,
  logbook: Logbook,
  evidence: Evidence,
): Verdict {
  const outcomes = checkOutcomes(policy, logbook, evidence);
  const attempts = evidence.deliveries.map((delivery) => checkAttempts(policy, logbook, evidence, delivery));
  return {
    accepted: outcomes.accepted,
    delivered: outcomes.delivered,
    repeated: attempts.reduce((sum, { repeated }) => sum + repeated, 0),
    killedAt: logbook.killedAt,
    withoutWorkflow: evidence.deliveries.filter(({ hasWorkflow }) => hasWorkflow === false).length,
    latestMs: Math.max(0, ...attempts.map(({ latestMs }) => latestMs)),
    violations: [
      ...outcomes.violations,
      ...attempts.flatMap(({ violations }) => violations),
      ...checkWorkflows(logbook.hourPassed ? 'undelivered' : workflows, evidence),
      ...checkDeactivations(policy, logbook, evidence),
      ...logbook.found,
      ...logbook.complaints.map((text) => violation('wrong', text)),
    ],
  };
}
