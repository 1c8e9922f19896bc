/**
 * Starts the workflows that were not started together with an attempt, and those that have to decide what happens to
 * a delivery: background calls, a few at a time. Undelivered deliveries wait for no other class. Delivered ones come
 * last, and are bounded in number and age.
 */
import { groupedWrites } from '../db/grouped.ts';
import { giveBack, markDispatched, postponeRejected, renewClaims } from '../db/outbox/release.ts';
import { limitDelivered } from '../db/outbox/unstarted-workflows.ts';
import { isRejection } from '../temporal/rejection.ts';
import type { WorkflowClass } from './classes.ts';
import type { RelayDeps, StartWorkflow } from './deps.ts';
import type { Next } from './loop.ts';
import { passOn } from './pass-on.ts';

/** The most deliveries that are marked in one statement. */
const MARKED_TOGETHER = 100;

const START = 'the start of a delivery';

/** A start is idempotent by workflow id, so a relay may die at any point. */
export function workflowStarter({
  sql,
  log,
  starts,
  dispatcher,
  onAnswered,
}: Pick<RelayDeps, 'sql' | 'log' | 'starts' | 'dispatcher' | 'onAnswered'>): StartWorkflow {
  const mark = groupedWrites<string>(MARKED_TOGETHER, (ids) => markDispatched(sql, ids));
  return async (delivery, last) => {
    try {
      await starts.start(() => dispatcher.startDelivery(delivery, last));
    } catch (error) {
      if (!isRejection(error)) throw error;
      onAnswered();
      log.error({ deliveryId: delivery.id, err: error }, `Temporal rejected ${START}`);
      return await postponeRejected(sql, [delivery]);
    }
    onAnswered();
    await mark(delivery.id);
  };
}

/**
 * The time between two checks of the bound on deliveries already delivered. Too low: more load. Too high: the bound
 * is exceeded.
 */
const LIMIT_EVERY_MS = 1_000;

/**
 * In a burst the loop of deliveries already delivered pauses after each pass, for this many times the duration of the
 * pass: a busy Temporal gets fewer of their workflows. Too low: these take processor time from attempts. Too high:
 * more deliveries reach the bound.
 */
const BURST_PAUSES = 3;

type WorkflowsDeps = Pick<RelayDeps, 'sql' | 'claim' | 'starts' | 'precedence' | 'startWorkflow'> &
  Pick<RelayDeps, 'stopping' | 'onAnswered' | 'suspects' | 'log' | 'options' | 'policy'>;

/**
 * @returns the step of the loop of a class
 * @throws the error of Temporal or the database when it is unavailable; deliveries not started are given back
 */
export function workflowsOf(deps: WorkflowsDeps, name: WorkflowClass): () => Promise<Next> {
  const { sql, options, starts, precedence, policy } = deps;
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
    const begunAt = performance.now();
    let isMore = false;
    await passOn(deps, {
      async claim(most) {
        const { deliveries, more } = await deps.claim(name, { limit: most });
        precedence.claimed(name, more);
        isMore = more;
        return deliveries;
      },
      renew: (claimed) => renewClaims(sql, claimed),
      giveBack: (claimed) => giveBack(sql, claimed, policy.initialIntervalMs),
      call: (delivery) => deps.startWorkflow(delivery),
      what: START,
      ids: ({ id: deliveryId }) => ({ deliveryId }),
      postpone: (delivery) => postponeRejected(sql, [delivery]),
    });
    if (name === 'delivered' && starts.isBurst())
      return Math.max(options.tickMs, BURST_PAUSES * (performance.now() - begunAt));
    return isMore ? options.tickMs : 'idle';
  };
}
