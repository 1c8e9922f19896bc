/**
 * The relay: outbox → Temporal, in loops that do not wait for each other. LISTEN wakes them, polling is the
 * guarantee.
 *
 * Module relay, which imports attempt, concurrency, db, domain, lib, temporal. Begin: `loop.ts` runs each step, `deliveries.ts` is the
 * first.
 */
import { type ClaimLimits, claimDeliveries } from '../db/outbox/claim.ts';
import { notifierOf, OUTBOX_CHANNEL, workNamed } from '../db/outbox/notify.ts';
import type { Pool } from '../db/pool.ts';
import type { Execute } from '../db/through-sessions.ts';
import { isOfTemporal } from '../temporal/refusal.ts';
import { createBudget } from './budget.ts';
import { dispatchChanges, dispatchRecoveries, dispatchReleases } from './changes.ts';
import { type ClassName, classNames, createPrecedence } from './classes.ts';
import { dispatchOf } from './deliveries.ts';
import type { RelayDeps } from './deps.ts';
import { createInHand } from './in-hand.ts';
import { type Next, type Round, startLoop } from './loop.ts';
import { dispatchWarnings } from './warnings.ts';

export interface RelayOptions
  extends Omit<RelayDeps, 'claim' | 'budget' | 'stopping' | 'onTaken' | 'onAway'> {
  /** Executes claims. */
  readonly execute: Execute;
  /**
   * Sessions with the server itself, where notifications are heard; null: there are none behind a pooler, and work is looked for.
   * Default: the pool.
   */
  readonly sessionSql?: Pool | null;
  /** Told whether Temporal took what it was given. */
  readonly onTemporal: (state: 'up' | 'down') => void;
  /** Told of every step of every loop. */
  readonly onRound: (loop: RelayLoop, round: Round) => void;
}

/** What is passed on, each in a loop of its own. */
export const relayLoops = [...classNames, 'webhooks', 'releases', 'recoveries', 'warnings'] as const;
export type RelayLoop = (typeof relayLoops)[number];

/** A running relay. */
export interface Relay {
  /**
   * No new claims; waits for the calls under way, which have a deadline each, and releases what was claimed and not
   * started.
   */
  stop(): Promise<void>;
  /** Waits for the first attempts under way after the stop, as long as one may take. */
  ended(): Promise<void>;
}

/** Starts relaying at once. */
export function startRelay(relay: RelayOptions): Relay {
  const { sql, sessionSql = sql, log, onTemporal, load, options } = relay;
  const stopping = new AbortController();
  const budget = createBudget(load.overloaded, options);
  const precedence = createPrecedence(options.patienceMs);
  // What was asked in another connection is not asked any more.
  load.answered();
  const onAway = () => onTemporal('down');
  function onTaken(): void {
    load.answered();
    onTemporal('up');
  }
  const common = {
    ...relay,
    claim: (limits: ClaimLimits) => relay.execute((by) => claimDeliveries(by, limits)),
    budget,
    stopping: stopping.signal,
    onTaken,
    onAway,
  };
  const inHand = createInHand(common);
  const deps = { ...common, inHand };
  function loop(what: RelayLoop, step: () => Promise<Next>) {
    let away = false;
    return startLoop({
      what,
      async step() {
        const next = await step();
        if (away) onTemporal('up');
        away = false;
        return next;
      },
      log,
      options,
      onFailure(error) {
        // The database may be away, which says nothing about Temporal.
        if (!isOfTemporal(error)) return;
        away = true;
        onAway();
      },
      onRound: (round) => relay.onRound(what, round),
    });
  }
  const fresh = dispatchOf(deps, 'fresh', precedence);
  const ofClass = (name: ClassName) => loop(name, dispatchOf(deps, name, precedence).step);
  // Nothing wakes retries, workflows and warnings: little of them is due at once, and polling is enough.
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
    superseded: (kind) => relay.watch.ended(kind, 'superseded'),
    take(claimed) {
      fresh.take(claimed).then(
        (released) => released > 0 && loops.fresh.wake(),
        // They are claimed again when their lease is over.
        (error: unknown) => log.warn({ err: error }, 'new deliveries could not be released'),
      );
    },
  });
  // Without it polling goes on.
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
