/**
 * The relay: outbox → Temporal, in loops that do not wait for each other. LISTEN wakes them; polling is the guarantee.
 *
 * Module relay, which imports attempt, concurrency, db, domain, lib, temporal. Begin: `loop.ts` runs each step, `deliveries.ts` is the
 * first.
 */
import { type ClaimLimits, claimDeliveries } from '../db/outbox/claim.ts';
import { notifierOf, OUTBOX_CHANNEL, workNamed } from '../db/outbox/notify.ts';
import type { Pool } from '../db/pool.ts';
import type { Execute } from '../db/through-sessions.ts';
import { isOfTemporal } from '../temporal/refusal.ts';
import { dispatchChanges, dispatchRecoveries, dispatchReleases } from './changes.ts';
import { type ClassName, classNames, createPrecedence } from './classes.ts';
import { dispatchOf } from './deliveries.ts';
import type { RelayDeps } from './deps.ts';
import { createInHand } from './in-hand.ts';
import { type Next, type Round, startLoop } from './loop.ts';
import { dispatchWarnings } from './warnings.ts';

export interface RelayOptions extends Omit<RelayDeps, 'claim' | 'stopping' | 'onAnswered' | 'onAway'> {
  /** Executes claims. */
  readonly execute: Execute;
  /** Direct sessions with the server, where notifications arrive; null: behind a pooler there are none, and loops only poll. */
  readonly sessionSql: Pool | null;
  /** Called with whether Temporal answered a call. */
  readonly onTemporal: (state: 'up' | 'down') => void;
  /** Called after every step of every loop. */
  readonly onRound: (loop: RelayLoop, round: Round) => void;
}

/** The loops, one for each kind of work. */
export const relayLoops = [...classNames, 'webhooks', 'releases', 'recoveries', 'warnings'] as const;
export type RelayLoop = (typeof relayLoops)[number];

/** A running relay. */
export interface Relay {
  /** No new claims; waits for the calls under way, each of which has a deadline, and gives back deliveries claimed but not started. */
  stop(): Promise<void>;
  /** Waits for the first attempts still under way after the stop, at most as long as one may take. */
  ended(): Promise<void>;
}

/** Starts relaying at once. */
export function startRelay(relay: RelayOptions): Relay {
  const { sql, sessionSql, log, onTemporal, starts, options } = relay;
  const stopping = new AbortController();
  const precedence = createPrecedence(options.patienceMs);
  // Questions asked over an earlier connection no longer count.
  starts.answered();
  const onAway = () => onTemporal('down');
  function onAnswered(): void {
    starts.answered();
    onTemporal('up');
  }
  const common = {
    ...relay,
    claim: (limits: ClaimLimits) => relay.execute((by) => claimDeliveries(by, limits)),
    stopping: stopping.signal,
    onAnswered,
    onAway,
  };
  const inHand = createInHand(common);
  const deps = { ...common, inHand };
  function loop(what: RelayLoop, step: () => Promise<Next>) {
    return startLoop({
      what,
      step,
      log,
      options,
      onFailure(error) {
        // If the database is away, that says nothing about Temporal.
        if (isOfTemporal(error)) onAway();
      },
      onRound: (round) => relay.onRound(what, round),
    });
  }
  const fresh = dispatchOf(deps, 'fresh', precedence);
  const ofClass = (name: ClassName) => loop(name, dispatchOf(deps, name, precedence).step);
  // Nothing wakes retries, workflows and warnings: few are due at once, and polling is enough.
  const loops = {
    fresh: loop('fresh', fresh.step),
    retry: ofClass('retry'),
    workflow: ofClass('workflow'),
    bulk: ofClass('bulk'),
    recovered: ofClass('recovered'),
    webhooks: loop('webhooks', () => dispatchChanges(deps)),
    releases: loop('releases', () => dispatchReleases(deps)),
    recoveries: loop('recoveries', () => dispatchRecoveries(deps)),
    warnings: loop('warnings', () => dispatchWarnings(deps)),
  };
  const notifier = notifierOf(sql);
  const detach = notifier.attach({
    wake: (work) => loops[work].wake(),
    hasRoom: fresh.hasRoom,
    superseded: (eventType) => relay.watch.ended(eventType, 'superseded'),
    take(claimed) {
      fresh.take(claimed).then(
        (givenBack) => givenBack > 0 && loops.fresh.wake(),
        // They are claimed again after their lease.
        (error: unknown) => log.warn({ err: error }, 'new deliveries could not be given back'),
      );
    },
  });
  // Without it, polling goes on.
  const listening = sessionSql
    ?.listen(OUTBOX_CHANNEL, (payload) => {
      if (notifier.sent(payload)) return;
      for (const work of workNamed(payload)) loops[work].wake();
    })
    .catch((error: unknown) => {
      log.warn({ err: error }, 'LISTEN failed');
      return undefined;
    });

  return {
    async stop() {
      stopping.abort();
      detach();
      await Promise.all(Object.values(loops).map((each) => each.stop()));
      await inHand.handedOver();
      await (await listening)?.unlisten().catch(() => {});
    },
    ended: () => inHand.ended(),
  };
}
