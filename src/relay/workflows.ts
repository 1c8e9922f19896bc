/**
 * From the queue to Temporal: the workflows of attempted deliveries that were not started at once, or that have to decide. Background
 * calls, a few at a time. Undelivered ones wait for no other class; delivered ones come last, and are bounded in number and age.
 */

import { whileLeased } from '../db/outbox/lease.ts';
import { CLASS } from '../db/outbox/outbox.ts';
import { limitDelivered } from '../db/outbox/pending-workflows.ts';
import { giveBack, renewClaims } from '../db/outbox/release.ts';
import type { Precedence, WorkflowClass } from './classes.ts';
import type { RelayDeps } from './deps.ts';
import type { Next } from './loop.ts';
import { callEach } from './pass-on.ts';
import type { WorkflowStarts } from './start-workflows.ts';

interface WorkflowsDeps extends Pick<RelayDeps, 'sql' | 'claim' | 'options' | 'starts' | 'stopping'> {
  readonly precedence: Precedence;
  readonly workflowStarts: WorkflowStarts;
}

/** The time between two checks of the bound on delivered ones, in milliseconds. Less: load. More: more of them than the bound. */
const LIMIT_EVERY_MS = 1_000;

/**
 * In a burst the loop of delivered ones pauses for so many times as long as its last pass took: a busy Temporal gets fewer of them. Less:
 * they take processor time from attempts. More: more of them reach the bound.
 */
const BURST_PAUSES = 3;

/**
 * @returns the step of the loop of a class
 * @throws the error of Temporal or the database when it is away; deliveries not started are given back
 */
export function workflowsOf(deps: WorkflowsDeps, name: WorkflowClass): () => Promise<Next> {
  const { sql, claim, options, starts, precedence, workflowStarts, stopping } = deps;
  let limitedAt = Number.NEGATIVE_INFINITY;

  async function limit(): Promise<void> {
    if (name !== 'delivered' || precedence.isEmpty(name)) return;
    if (performance.now() - limitedAt < LIMIT_EVERY_MS) return;
    limitedAt = performance.now();
    await limitDelivered(sql);
  }

  return async () => {
    await limit();
    if (!precedence.mayClaim(name)) return options.tickMs;
    const { deliveries, more } = await claim({ class: CLASS[name], limit: options.backgroundPerTick });
    precedence.claimed(name, more);
    const begunAt = performance.now();
    const { left, throwFailure } = await whileLeased(
      () => renewClaims(sql, deliveries),
      () =>
        callEach({
          items: deliveries,
          concurrency: options.backgroundConcurrency,
          stopping,
          call: (delivery) => workflowStarts.start(delivery),
        }),
    );
    await giveBack(sql, left);
    throwFailure();
    if (name === 'delivered' && starts.isBurst())
      return Math.max(options.tickMs, BURST_PAUSES * (performance.now() - begunAt));
    return more ? options.tickMs : 'idle';
  };
}
