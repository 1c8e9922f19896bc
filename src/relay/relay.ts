/**
 * The relay takes work from the outbox to attempts and to Temporal. Its loops never wait for each other's steps;
 * `classes.ts` says which class of deliveries gives way. LISTEN wakes the loops; polling is the guarantee.
 *
 * Module relay, which imports attempt, concurrency, db, domain, lib, temporal. Begin: `loop.ts` runs each step,
 * `attempts.ts` is the first.
 */
import { claimDeliveries } from '../db/outbox/claim.ts';
import { settleOrdering } from '../db/outbox/keep-ordering.ts';
import { recordLastClaims } from '../db/outbox/last-claims.ts';
import { CLASS } from '../db/outbox/outbox.ts';
import { isOfTemporal } from '../temporal/rejection.ts';
import { attemptsOf } from './attempts.ts';
import {
  decideNotices,
  dispatchChanges,
  dispatchNotices,
  dispatchRecoveries,
  dispatchReleases,
} from './changes.ts';
import { createPrecedence, type RelayLoop } from './classes.ts';
import type { RelayDeps, RelayOptions } from './deps.ts';
import { createInFlight } from './in-flight.ts';
import { type Next, restAfter, startLoop } from './loop.ts';
import { createSuspects } from './suspects.ts';
import { workflowStarter, workflowsOf } from './workflows.ts';

/** A running relay. */
export type Relay = ReturnType<typeof startRelay>;

/** Starts relaying at once. */
export function startRelay(relay: RelayOptions) {
  const { sql, sessionSql, log, onTemporal, starts, options } = relay;
  const stopping = new AbortController();
  const precedence = createPrecedence(options.patienceMs);
  // Unanswered calls on an earlier connection no longer count.
  starts.answered();
  const suspects = createSuspects();
  function onAnswered(): void {
    starts.answered();
    suspects.answered();
    onTemporal('up');
  }
  const recordLastClaim = recordLastClaims(sql);
  const deps: RelayDeps = {
    ...relay,
    async claim(name, limits) {
      const claim = await relay.execute((by) => claimDeliveries(by, { class: CLASS[name], ...limits }));
      relay.onClaim(name);
      recordLastClaim(name);
      return claim;
    },
    stopping: stopping.signal,
    onAnswered,
    suspects,
    precedence,
    startWorkflow: workflowStarter({ ...relay, onAnswered }),
    wake(name) {
      precedence.waiting(name);
      loops[name].wake();
    },
  };
  const inFlight = createInFlight(deps);
  function loop(what: RelayLoop, step: () => Promise<Next>) {
    return startLoop({
      what,
      step,
      log,
      options,
      onFailure(error) {
        // An error of the database says nothing about Temporal.
        if (isOfTemporal(error)) onTemporal('down', error);
      },
      onPass: (result) => relay.onPass(what, result),
    });
  }
  const fresh = attemptsOf(deps, inFlight, 'fresh');
  // Nothing wakes warnings and notices: few are due at once, and polling is enough.
  const loops = {
    fresh: loop('fresh', fresh.step),
    retry: loop('retry', attemptsOf(deps, inFlight, 'retry').step),
    bulk: loop('bulk', attemptsOf(deps, inFlight, 'bulk').step),
    recovered: loop('recovered', attemptsOf(deps, inFlight, 'recovered').step),
    undelivered: loop('undelivered', workflowsOf(deps, 'undelivered')),
    delivered: loop('delivered', workflowsOf(deps, 'delivered')),
    webhooks: loop('webhooks', () => dispatchChanges(deps)),
    releases: loop('releases', () => dispatchReleases(deps)),
    recoveries: loop('recoveries', () => dispatchRecoveries(deps)),
    // Deliveries that missed their turn in the order of their record. This does not need Temporal.
    orderings: loop('orderings', async () => {
      const begunAt = performance.now();
      await settleOrdering(sql, 'all');
      return restAfter(performance.now() - begunAt, options.settleMs);
    }),
    warnings: loop('warnings', () => decideNotices(deps)),
    notices: loop('notices', () => dispatchNotices(deps)),
  };
  const { notifier } = sql;
  const detach = notifier.attach({
    wake: (work) => loops[work].wake(),
    hasRoom: fresh.hasRoom,
    ended: (eventType, as) => relay.watch.ended(eventType, as),
    start(claimed) {
      fresh.start(claimed).then(
        (givenBack) => givenBack > 0 && loops.fresh.wake(),
        // These deliveries are claimed again after their lease.
        (error: unknown) => log.warn({ err: error }, 'new deliveries could not be given back'),
      );
    },
  });
  // If LISTEN fails, polling goes on.
  if (sessionSql !== null)
    notifier.listen(sessionSql).catch((error: unknown) => log.warn({ err: error }, 'LISTEN failed'));

  return {
    /** Stops claiming, and waits for the calls under way, each of which has a deadline. */
    async stop(): Promise<void> {
      stopping.abort();
      detach();
      await Promise.all(Object.values(loops).map((each) => each.stop()));
    },
    /**
     * Waits for the attempts that are still under way after the stop, at most as long as an attempt may take.
     * Deliveries whose attempts have not begun are given back.
     */
    ended: () => inFlight.end(),
  };
}
