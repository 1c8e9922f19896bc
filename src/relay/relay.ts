/**
 * The relay: outbox → Temporal, in loops that do not wait for each other. LISTEN wakes them, polling is the
 * guarantee.
 *
 * Module relay, which imports attempt, concurrency, db, lib, temporal. Begin: `loop.ts` runs each step, `deliveries.ts` is the
 * first.
 */
import type { Limits } from '../concurrency/limits.ts';
import type { Load } from '../concurrency/load.ts';
import { type SchedulerOptions, schedulerDefaults } from '../concurrency/settings.ts';
import { OUTBOX_CHANNEL, type RelayWork, workNamed } from '../db/outbox/notify.ts';
import type { Pool } from '../db/pool.ts';
import { createBudget } from './budget.ts';
import { type ChangesDeps, dispatchChanges, dispatchReleases } from './changes.ts';
import { createRanks, type DeliveryClass, deliveryClasses, dispatchOf } from './deliveries.ts';
import { type Loop, type LoopOptions, type Round, startLoop } from './loop.ts';
import { createMode, type FirstAttempts } from './mode.ts';
import { dispatchRecoveries, type RecoveriesDeps } from './recoveries.ts';
import type { BatchesDeps, PassOnDeps } from './start.ts';
import { dispatchWarnings, type WarningsDeps } from './warnings.ts';

/** What the relay receives. */
export interface RelayOptions extends Pick<PassOnDeps, 'sql' | 'dispatcher' | 'log' | 'watch'> {
  /** Where notifications are heard; null: nowhere, and work is looked for. Default: the pool. */
  readonly listenSql?: Pool | null;
  readonly recoveries: RecoveriesDeps['recoveries'];
  readonly warnings: WarningsDeps['warnings'];
  readonly warningTerms: WarningsDeps['warningTerms'];
  readonly firstWaitMs: ChangesDeps['firstWaitMs'];
  readonly starter: BatchesDeps['starter'];
  readonly checkBatch: BatchesDeps['checkBatch'];
  readonly firstAttempts: FirstAttempts;
  /** Shared with the attempts of the worker beside it. */
  readonly limits: Limits;
  readonly load: Load;
  /** Left out: the defaults. */
  readonly scheduler?: SchedulerOptions;
  /** Told whether Temporal took what it was given. */
  readonly onTemporal: (state: 'up' | 'down') => void;
  /** Told of every step of every loop. */
  readonly onRound: (loop: RelayLoop, round: Round) => void;
}

/** What is passed on, each in a loop of its own. */
export const relayLoops = [
  'deliveries',
  'deliveries handed back by batches',
  'workflows of deliveries handed back by batches',
  'deliveries of imports',
  'deliveries of recoveries',
  'changes of webhooks',
  'changes of releases',
  'recoveries',
  'warnings of deactivations',
] as const;
/** A loop of the relay. */
export type RelayLoop = (typeof relayLoops)[number];

/** A running relay. */
export interface Relay {
  /**
   * No new claims; waits for the calls under way, which have a deadline each, and gives back what was claimed and not
   * begun.
   */
  stop(): Promise<void>;
}

/** Starts relaying at once. */
export function startRelay(relay: RelayOptions): Relay {
  const { sql, listenSql = sql, log, onTemporal, load, scheduler: options = schedulerDefaults } = relay;
  const stopping = new AbortController();
  const budget = createBudget(load.overloaded, options);
  const ranks = createRanks(options.patienceMs);
  const deps = { ...relay, options, budget, stopping: stopping.signal, onTaken: () => onTemporal('up') };
  const loop = (what: RelayLoop, step: LoopOptions['step']) =>
    startLoop({
      what,
      step,
      log,
      options,
      onFailure: () => onTemporal('down'),
      onRound: (round) => relay.onRound(what, round),
    });
  const { firstAttempts } = relay;
  const ofClass = (what: RelayLoop, of: DeliveryClass, setting = firstAttempts) =>
    loop(what, dispatchOf(deps, of, createMode(setting, options), ranks));
  const { deliveries, retries, workflows, imports, recovered } = deliveryClasses;
  const woken: Readonly<Record<RelayWork, Loop>> = {
    deliveries: ofClass('deliveries', deliveries),
    bulk: ofClass('deliveries of imports', imports),
    recovered: ofClass('deliveries of recoveries', recovered, firstAttempts === 'each' ? 'each' : 'batch'),
    webhooks: loop('changes of webhooks', () => dispatchChanges(deps)),
    releases: loop('changes of releases', () => dispatchReleases(deps)),
    recoveries: loop('recoveries', () => dispatchRecoveries(deps)),
  };
  // No notification is sent for these: little of it is due at once, and polling is enough.
  const polling = [
    // A few retries get their own workflows in every setting that has batches.
    ofClass('deliveries handed back by batches', retries, firstAttempts === 'each' ? 'each' : 'auto'),
    ofClass('workflows of deliveries handed back by batches', workflows, 'each'),
    loop('warnings of deactivations', () => dispatchWarnings(deps)),
  ];
  const loops = [...Object.values(woken), ...polling];
  // Without it polling goes on.
  const listening = listenSql
    ?.listen(OUTBOX_CHANNEL, (payload) => {
      for (const work of workNamed(payload)) woken[work].wake();
    })
    .catch((error: unknown) => {
      log.warn({ err: error }, 'LISTEN failed');
      return undefined;
    });

  return {
    async stop() {
      stopping.abort();
      await Promise.all(loops.map((each) => each.stop()));
      await (await listening)?.unlisten().catch(() => {});
    },
  };
}
