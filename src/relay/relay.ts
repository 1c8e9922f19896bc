/**
 * The relay: outbox → Temporal, in loops that do not wait for each other. LISTEN wakes them, polling is the
 * guarantee.
 *
 * Module relay, which imports attempt, db, lib, temporal. Begin: `loop.ts` runs each step, `deliveries.ts` is the
 * first.
 */
import type { Logger } from 'pino';
import type { DeliveryWatch } from '../attempt/watch.ts';
import type { InFlightLimits } from '../db/outbox/claim.ts';
import { IMPORT_CHANNEL, OUTBOX_CHANNEL, type RelayWork, workNamed } from '../db/outbox/notify.ts';
import type { Pool } from '../db/pool.ts';
import type { Dispatcher, HandedBackStarter, RecoveredStarter } from '../temporal/dispatcher.ts';
import { type BatchesDeps, dispatchBatch } from './batches.ts';
import { dispatchChanges } from './changes.ts';
import { dispatchDeliveries } from './deliveries.ts';
import { createFanOutPace } from './fan-out-pace.ts';
import { createHandBackPace } from './hand-back-pace.ts';
import { dispatchHandedBack } from './handed-back.ts';
import { createIdleShare } from './idle-share.ts';
import { createImports } from './imports.ts';
import { createLane, type FirstAttempts } from './lane.ts';
import { type Loop, type LoopOptions, type Round, startLoop } from './loop.ts';
import { createPace } from './pace.ts';
import { createPrecedence } from './precedence.ts';
import { dispatchRecovered, dispatchRecoveries, type RecoveriesDeps } from './recoveries.ts';
import { createRecoveryPace } from './recovery-pace.ts';
import { dispatchReleases } from './releases.ts';
import { dispatchWarnings, type WarningsDeps } from './warnings.ts';

/** What the relay receives. */
export interface RelayOptions {
  readonly sql: Pool;
  readonly dispatcher: Dispatcher;
  readonly handedBack: HandedBackStarter;
  readonly recovered: RecoveredStarter;
  readonly recoveries: RecoveriesDeps['recoveries'];
  readonly warnings: WarningsDeps['warnings'];
  readonly warningTerms: WarningsDeps['warningTerms'];
  /** The policy's first wait, in milliseconds. */
  readonly firstWaitMs: number;
  readonly starter: BatchesDeps['starter'];
  readonly checkBatch: BatchesDeps['checkBatch'];
  readonly slots: BatchesDeps['slots'];
  readonly firstAttempts: FirstAttempts;
  readonly log: Logger;
  /** What may be in flight, as the worker beside it knows. */
  readonly limits: () => InFlightLimits;
  readonly batchLimits: BatchesDeps['batchLimits'];
  /** Told whether Temporal took what it was given. */
  readonly onTemporal: (state: 'up' | 'down') => void;
  /** Told of deliveries that end without a workflow. */
  readonly watch: Pick<DeliveryWatch, 'ended'>;
  /** Told of every step of every loop. */
  readonly onRound: (loop: RelayLoop, round: Round) => void;
}

/** What is passed on, each in a loop of its own. */
export const relayLoops = [
  'deliveries',
  'changes of webhooks',
  'deliveries handed back by batches',
  'changes of releases',
  'recoveries',
  'deliveries of recoveries',
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

/** A delivery that waits longer to be started, or then for its attempt, waits for something else, in milliseconds. */
const FELT_MS = 60;
/** What waits for longer beside a recovery slows the recovery down, in milliseconds. */
const BESIDE_RECOVERY_MS = 30;

/** Starts relaying at once. */
export function startRelay(options: RelayOptions): Relay {
  const { sql, log, onTemporal } = options;
  const stopping = new AbortController();
  const imports = createImports(createIdleShare());
  const deps = {
    ...options,
    stopping: stopping.signal,
    imports,
    onTaken: () => onTemporal('up'),
  };
  const loop = (what: RelayLoop, step: LoopOptions['step']) =>
    startLoop({
      what,
      step,
      log,
      onFailure: () => onTemporal('down'),
      onRound: (round) => options.onRound(what, round),
    });
  const pace = createPace();
  const lane = createLane(options.firstAttempts);
  const waits = (ms: number) => lane.rushing() || pace.waitMs(performance.now()) > ms;
  const felt = () => waits(FELT_MS) || pace.startMs(performance.now()) > FELT_MS;
  const fanOutPace = createFanOutPace({ busy: () => pace.full() || pace.late(), felt });
  const recoveryPace = createRecoveryPace(() => waits(BESIDE_RECOVERY_MS));
  const handBackPace = createHandBackPace(felt);
  const releasePace = createHandBackPace(felt);
  const precedence = createPrecedence();
  const dispatchFirst = () =>
    lane.now() === 'batch'
      ? dispatchBatch(deps, lane, precedence)
      : dispatchDeliveries(deps, pace, lane, precedence);
  const woken: Readonly<Record<RelayWork, Loop>> = {
    deliveries: loop('deliveries', dispatchFirst),
    webhooks: loop('changes of webhooks', () => dispatchChanges(deps, fanOutPace)),
    releases: loop('changes of releases', () => dispatchReleases(deps, releasePace)),
    recoveries: loop('recoveries', () => dispatchRecoveries(deps)),
    recovered: loop('deliveries of recoveries', () => dispatchRecovered(deps, precedence, recoveryPace)),
  };
  // No notification is sent for these: little of it is due at once, and polling is enough.
  const polling = [
    loop('warnings of deactivations', () => dispatchWarnings(deps)),
    loop('deliveries handed back by batches', () => dispatchHandedBack(deps, handBackPace)),
  ];
  const loops = [...Object.values(woken), ...polling];

  const listening = [
    listen(OUTBOX_CHANNEL, (payload) => {
      for (const work of workNamed(payload)) woken[work].wake();
    }),
    listen(IMPORT_CHANNEL, (eshopId) => imports.heard(Number(eshopId))),
  ];
  /** Without it polling goes on, and e-shops that import are delivered to as any other. */
  function listen(channel: string, onNotify: (payload: string) => void) {
    return sql.listen(channel, onNotify).catch((error: unknown) => {
      log.warn({ err: error }, 'LISTEN failed');
      return undefined;
    });
  }

  return {
    async stop() {
      stopping.abort();
      await Promise.all(loops.map((each) => each.stop()));
      for (const each of listening) await (await each)?.unlisten().catch(() => {});
    },
  };
}
