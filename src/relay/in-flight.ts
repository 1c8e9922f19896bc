/**
 * Deliveries in flight: this process has claimed them and is making their attempts. One statement records the result
 * of an attempt and the delivery's next step in the queue. Under light load the delivery's workflow is started at
 * once with that result, even if the attempt failed. Otherwise the delivery stays in the queue: for its next attempt
 * if that attempt is due within a minute, else until a loop starts its workflow. No attempt waits for Temporal.
 *
 * If the process dies, the next claim finds the attempt recorded, owned, or not begun.
 */
import { setMaxListeners } from 'node:events';
import type { AttemptOutcome, HandOver, SkipReason } from '../attempt/outcome.ts';
import { groupedWrites } from '../db/grouped.ts';
import { RENEWAL_MS } from '../db/outbox/lease.ts';
import type { ClaimedId, QueuedDelivery } from '../db/outbox/outbox.ts';
import { deferClaimed, giveBack, renewClaims, requeue, type Unattempted } from '../db/outbox/release.ts';
import { firstOfEachSecond } from '../lib/first-of-each-second.ts';
import { isOfTemporal, sourceOf } from '../temporal/rejection.ts';
import type { AttemptClass } from './classes.ts';
import type { RelayDeps } from './deps.ts';

/** The deliveries in flight of one relay. */
export type InFlight = ReturnType<typeof createInFlight>;

/**
 * What happens to a delivery whose attempt was not made: it is deferred for a moment, it waits as its row says now,
 * or its workflow decides.
 */
type ReturnPath = 'defer' | 'requeue' | 'workflow';

/**
 * A reason may be `requeue` only if the row, or the claim, takes it into account: otherwise the delivery would be
 * claimed again and again.
 */
const returnPath: Readonly<Record<SkipReason, ReturnPath>> = {
  concurrencyLimit: 'defer',
  order: 'defer',
  underWay: 'defer',
  spent: 'workflow',
  windowOver: 'workflow',
  inactive: 'requeue',
  paused: 'requeue',
  deleted: 'requeue',
  closed: 'requeue',
  stopped: 'requeue',
  notDue: 'requeue',
};

/** @param outcome null if the attempt was interrupted */
function returnPathAfter(outcome: AttemptOutcome | null): ReturnPath {
  if (outcome === null) return 'workflow';
  // If the attempt did get a result, the row has it.
  return outcome.kind === 'delivered' || outcome.kind === 'failed' ? 'requeue' : returnPath[outcome.reason];
}

/** The most deliveries that go back to the queue in one statement. */
const RETURNED_TOGETHER = 100;

export function createInFlight(deps: RelayDeps) {
  const { sql, log, options, starts, stopping, precedence } = deps;
  /**
   * For each class, the deliveries that fill places, and when their requests may have begun. A delivery fills no
   * place while it waits for a permit, nor once its request has taken long.
   */
  const counted: Readonly<Record<AttemptClass, Map<string, number>>> = {
    fresh: new Map(),
    retry: new Map(),
    bulk: new Map(),
    recovered: new Map(),
  };
  const claims = new Set<QueuedDelivery>();
  const running = new Set<Promise<void>>();
  const isLoggedFailure = firstOfEachSecond((count) =>
    log.warn({ count }, 'more steps of deliveries failed in the same second'),
  );
  setMaxListeners(0, stopping);
  // After a failed renewal the next one tries again. If the claim ends first, another process takes it over.
  const renewing = setInterval(() => void renewClaims(sql, [...claims]).catch(() => {}), RENEWAL_MS);
  renewing.unref();
  const returns = {
    back: groupedWrites<ClaimedId>(RETURNED_TOGETHER, (claimed) => giveBack(sql, claimed)),
    deferred: groupedWrites<ClaimedId>(RETURNED_TOGETHER, (claimed) => deferClaimed(sql, claimed)),
    requeued: groupedWrites<Unattempted>(RETURNED_TOGETHER, (unattempted) => requeue(sql, unattempted)),
  };

  /** Nothing else is waiting, and Temporal has room: the workflow is started at once. */
  function isLightLoad(): boolean {
    return precedence.isEmpty('fresh') && precedence.isEmpty('bulk') && starts.hasRoom();
  }

  /**
   * What happens to the workflow of an attempted delivery. The attempt's number decides, since the claimed row may be
   * older.
   */
  function handOver(delivered: boolean, number: number): HandOver {
    if (isLightLoad()) return 'start';
    return delivered && number === 1 && deps.workflows === 'undelivered' ? 'none' : 'unstarted';
  }

  async function attemptAndHandOver(delivery: QueuedDelivery, name: AttemptClass): Promise<void> {
    const { id, claimId } = delivery;
    const decision: { next: HandOver | null } = { next: null };
    let outcome: AttemptOutcome | null;
    counted[name].set(id, Number.POSITIVE_INFINITY);
    starts.attempted();
    try {
      outcome = await deps.makeAttempt(
        delivery,
        {
          claimId,
          claimingMs: precedence.claimingMs(name),
          handOver(delivered, number) {
            decision.next = handOver(delivered, number);
            return decision.next;
          },
        },
        {
          stop: stopping,
          onPermit(permit) {
            if (permit === 'requested') counted[name].delete(id);
            else counted[name].set(id, performance.now());
          },
        },
      );
    } catch {
      // The attempt was interrupted. If it has a result, the records have it.
      outcome = null;
    }
    counted[name].delete(id);
    const { next } = decision;
    // If the decision was never requested, this process recorded nothing: the row says how the delivery goes on.
    if (next === null || (outcome?.kind !== 'delivered' && outcome?.kind !== 'failed'))
      return await goBack(delivery, outcome);
    if (next === 'start') return await deps.startWorkflow(delivery, outcome);
    // A retry that is due soon needs no waking: its own loop polls for it.
    if (next === 'unstarted') deps.wake(outcome.kind === 'delivered' ? 'delivered' : 'undelivered');
  }

  /** Puts a delivery back into the queue, since no attempt was made or recorded. */
  async function goBack(claimed: ClaimedId, outcome: AttemptOutcome | null): Promise<void> {
    if (outcome === null && stopping.aborted) return await returns.back(claimed);
    const way = returnPathAfter(outcome);
    if (way === 'defer') return await returns.deferred(claimed);
    const { id, claimId } = claimed;
    await returns.requeued({ id, claimId, needsWorkflow: way === 'workflow' });
    deps.wake('undelivered');
  }

  async function run(delivery: QueuedDelivery, name: AttemptClass): Promise<void> {
    claims.add(delivery);
    try {
      await attemptAndHandOver(delivery, name);
    } catch (error) {
      // If the delivery cannot be given back either, it is claimed again after its lease.
      if (isOfTemporal(error)) deps.onTemporal('down', error);
      if (isLoggedFailure())
        log.warn({ deliveryId: delivery.id, err: error, of: sourceOf(error) }, 'a step of a delivery failed');
      await giveBack(sql, [delivery], deps.policy.initialIntervalMs).catch(() => {});
    } finally {
      claims.delete(delivery);
    }
  }

  return {
    /** How many deliveries of a class are in flight, except those that wait for a permit or for a slow receiver. */
    count(name: AttemptClass): number {
      const slowSince = performance.now() - options.slowMs;
      const ids = counted[name];
      for (const [id, since] of ids) if (since < slowSince) ids.delete(id);
      return ids.size;
    },
    /** Begins the attempts of claimed deliveries; returns at once. */
    start(deliveries: readonly QueuedDelivery[], name: AttemptClass): void {
      for (const delivery of deliveries) {
        const task = run(delivery, name).finally(() => running.delete(task));
        running.add(task);
      }
    },
    /** No further attempt begins; waits until none is in flight, at most as long as an attempt may take. */
    async end(): Promise<void> {
      await Promise.all(running);
      clearInterval(renewing);
    },
  };
}
