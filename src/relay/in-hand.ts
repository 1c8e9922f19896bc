/**
 * Deliveries in hand: claimed one by one, their workflows not yet started. The process that claims a delivery makes its first attempt
 * and starts its workflow in parallel: with the result, or after a moment without it. So Temporal never delays a first attempt; while
 * it is slow or silent, first attempts go on and the workflows are owed.
 *
 * A delivery is dispatched once Temporal has its workflow. If the process dies before that, the next claim finds the attempt recorded,
 * owned, or not begun.
 */
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { AttemptSignals } from '../attempt/make-attempt.ts';
import type { AttemptOutcome } from '../attempt/outcome.ts';
import { ownedMs } from '../attempt/ownership.ts';
import { createBatcher } from '../db/batcher.ts';
import { whileLeased } from '../db/outbox/lease.ts';
import {
  deferDeliveries,
  giveBackDeliveries,
  markDispatched,
  oweWorkflows,
  type QueuedDelivery,
  renewDeliveries,
  setAsideDeliveries,
} from '../db/outbox/outbox.ts';
import { isRefusal } from '../temporal/refusal.ts';
import type { RelayDeps } from './deps.ts';

/** The deliveries in hand of one relay. */
export interface InHand {
  /** How many there are, except those that wait for a permit or for a slow receiver; 0 while Temporal is slow. */
  count(): number;
  /** Takes claimed deliveries; returns at once. */
  take(deliveries: readonly QueuedDelivery[]): void;
  /** No further attempt begins; waits until all deliveries in hand are handed over or given back. */
  handedOver(): Promise<void>;
  /** Waits for the attempts under way, at most as long as one may take. */
  ended(): Promise<void>;
}

/** The most deliveries that are marked in one statement. */
const MARKED_TOGETHER = 100;

export function createInHand(deps: RelayDeps): InHand {
  const { sql, log, options, stopping, starts, dispatcher } = deps;
  const underWay = { kind: 'underWay', ms: ownedMs(deps.policy) } as const;
  /** Deliveries that count in the dispatch window: not while they wait for a permit, nor once their receiver has turned out slow. */
  const inWindow = new Set<string>();
  const handing = new Set<Promise<unknown>>();
  const attempts = new Set<Promise<unknown>>();
  const late = pLimit(options.backgroundConcurrency);
  setMaxListeners(0, stopping);
  const mark = createBatcher<string, void>(MARKED_TOGETHER, (ids) => {
    const marked = markDispatched(sql, ids);
    return ids.map(() => marked);
  });

  /**
   * @param onPermit as in `AttemptSignals`
   * @returns null if it was interrupted: the records tell its result, if it has one
   */
  async function attempted(
    { id, attemptsMade, state }: QueuedDelivery,
    onPermit: AttemptSignals['onPermit'] & {},
  ): Promise<AttemptOutcome | null> {
    if (attemptsMade > 0 || state !== 'pending') return null;
    return await deps.makeFirstAttempt(id, { stop: stopping, onPermit }).catch(() => null);
  }

  async function handOver(delivery: QueuedDelivery, attempt: Promise<AttemptOutcome | null>): Promise<void> {
    const outcome = await Promise.race([attempt, sleep(options.startAfterMs, underWay, { ref: false })]);
    if (outcome?.kind !== 'underWay') return await handOverWith(delivery, outcome, attempt);
    // From here its permit bounds it. Its workflow is not urgent, and starting it could take processor time from first attempts.
    inWindow.delete(delivery.id);
    if (starts.slow()) return await handOverWith(delivery, await attempt, attempt);
    await late(async () => {
      // It may have its result by now.
      await handOverWith(delivery, await Promise.race([attempt, underWay]), attempt);
    });
  }

  async function handOverWith(
    delivery: QueuedDelivery,
    outcome: AttemptOutcome | typeof underWay | null,
    attempt: Promise<AttemptOutcome | null>,
  ): Promise<void> {
    const ids = [delivery.id];
    if (outcome?.kind === 'notAttempted' && outcome.reason === 'concurrencyLimit')
      return await deferDeliveries(sql, ids);
    if (outcome === null && stopping.aborted) return await giveBackDeliveries(sql, ids);
    if (starts.slow()) return await oweWorkflows(sql, ids);
    try {
      await start(delivery, outcome);
    } catch (error) {
      if (!isRefusal(error)) {
        deps.onAway();
        return await oweWorkflows(sql, ids);
      }
      deps.onAnswered();
      log.error({ deliveryId: delivery.id, err: error }, 'Temporal refused to start a delivery');
      return await setAsideDeliveries(sql, ids);
    }
    deps.onAnswered();
    if (outcome?.kind === 'underWay') keep(attempts, report(delivery, attempt));
    await mark(delivery.id);
  }

  async function start(
    delivery: QueuedDelivery,
    outcome: AttemptOutcome | typeof underWay | null,
  ): Promise<void> {
    const first = outcome?.kind === 'notAttempted' || outcome?.kind === 'deferred' ? null : outcome;
    await starts.ask(() => dispatcher.startDelivery(delivery, 'fresh', first));
  }

  /** A workflow that is not told checks by itself once its attempt must be over. */
  async function report(delivery: QueuedDelivery, attempt: Promise<AttemptOutcome | null>): Promise<void> {
    const came = await attempt;
    const known = came?.kind === 'delivered' || came?.kind === 'failed' ? came : null;
    await dispatcher.signalFirstAttempt(delivery, known).catch((error: unknown) => {
      log.debug({ deliveryId: delivery.id, err: error }, 'the workflow was not told of its first attempt');
    });
  }

  async function take(delivery: QueuedDelivery): Promise<void> {
    const { id } = delivery;
    inWindow.add(id);
    try {
      let attempt: Promise<AttemptOutcome | null> = Promise.resolve(null);
      await new Promise<void>((begins) => {
        attempt = attempted(delivery, (permit) => {
          if (permit === 'isAskedFor') inWindow.delete(id);
          else begins();
        }).finally(begins);
      });
      inWindow.add(id);
      keep(attempts, attempt);
      await handOver(delivery, attempt);
    } catch (error) {
      // It is claimed again after its lease.
      log.warn({ deliveryId: id, err: error }, 'a delivery could not be handed over');
    } finally {
      inWindow.delete(id);
    }
  }

  return {
    count: () => (starts.slow() ? 0 : inWindow.size),
    take(deliveries) {
      // Once a delivery is done with, its lease is no longer ours to renew.
      const left = new Set(deliveries.map(({ id }) => id));
      const taken = (delivery: QueuedDelivery) => take(delivery).finally(() => left.delete(delivery.id));
      keep(
        handing,
        whileLeased(
          () => renewDeliveries(sql, [...left]),
          () => Promise.all(deliveries.map(taken)),
        ),
      );
    },
    async handedOver() {
      await Promise.all(handing);
    },
    async ended() {
      await Promise.all(attempts);
    },
  };
}

function keep(among: Set<Promise<unknown>>, work: Promise<unknown>): void {
  among.add(work);
  void work.finally(() => among.delete(work));
}
