/**
 * Recoveries: their workflows are started and told of changes, and what they create is handed over when nothing fresh waits.
 */
import { v7 as uuidv7 } from 'uuid';
import type { InFlightLimits } from '../db/outbox/claim.ts';
import { claimDeliveries } from '../db/outbox/claim-deliveries.ts';
import { areRecoveredQueued } from '../db/outbox/recovered-deliveries.ts';
import {
  claimRecoveryChanges,
  noteRecoveryTold,
  releaseRecoveryChanges,
  renewRecoveryChanges,
} from '../db/outbox/recovery-changes.ts';
import type { RecoveredStarter } from '../temporal/dispatcher.ts';
import type { RecoveryStarter } from '../temporal/start-recovery.ts';
import { type BatchesDeps, startBatches } from './batches.ts';
import type { FirstAttempts } from './lane.ts';
import { CONCURRENCY, LEAST_SLOTS } from './limits.ts';
import type { Next } from './loop.ts';
import { passOn } from './pass-on.ts';
import type { Precedence } from './precedence.ts';
import type { RecoveryPace } from './recovery-pace.ts';
import { type PassOnDeps, type StartDeps, startAll } from './start-all.ts';

/** What recoveries take. */
export interface RecoveriesDeps extends Pick<PassOnDeps, 'limits'>, StartDeps, BatchesDeps {
  readonly recoveries: Pick<RecoveryStarter, 'signalRecoveryChanged'>;
  readonly recovered: RecoveredStarter;
  readonly firstAttempts: FirstAttempts;
}

/**
 * Passes on one page of changes.
 * @throws what Temporal or the database threw when it is away; what is left is released
 */
export function dispatchRecoveries({
  sql,
  log,
  recoveries,
  stopping,
}: Pick<RecoveriesDeps, 'sql' | 'log' | 'recoveries' | 'stopping'>): Promise<Next> {
  return passOn({
    stopping,
    claim: (limit) => claimRecoveryChanges(sql, limit),
    renew: (ids) => renewRecoveryChanges(sql, ids),
    release: (ids) => releaseRecoveryChanges(sql, ids),
    tell: (recovery) => recoveries.signalRecoveryChanged(recovery),
    note: (recovery) => noteRecoveryTold(sql, recovery),
    refused: ({ id: recoveryId }, err) =>
      log.error({ recoveryId, err }, 'Temporal refused to start a recovery'),
  });
}

/** Deliveries of a claim that get a batch, and of one whose deliveries get their own workflows. */
const BATCH_SIZE = 100;
const FEW = 20;
/** Before it is asked again whether something fresh waits, in milliseconds. */
const YIELD_MS = 50;
/** Before asking again for what cannot be claimed yet, in milliseconds. */
const BLOCKED_MS = 500;

/**
 * Hands over some of what recoveries created, if nothing fresh waits.
 * @throws what Temporal or the database threw when it is away; what was claimed is released
 */
export async function dispatchRecovered(
  deps: RecoveriesDeps,
  precedence: Precedence,
  pace: RecoveryPace,
): Promise<Next> {
  const { sql, slots, recovered } = deps;
  if (!(await areRecoveredQueued(sql))) return 'idle';
  if (!precedence.isOver()) return YIELD_MS;
  const batched = deps.firstAttempts !== 'each';
  if (batched && slots.unclaimed() < LEAST_SLOTS) return YIELD_MS;
  const limit = batched ? BATCH_SIZE : FEW;
  const { deliveries, kept } = await claimDeliveries(sql, {
    limit,
    recovered: true,
    inFlight: halved(batched ? deps.batchLimits() : deps.limits()),
    ...(batched ? { batchId: uuidv7() } : { handedOver: limit }),
  });
  if (deliveries.length > 0) precedence.yielded();
  // Claimed for a batch by a relay that died, or since the setting was changed: no other workflow may attempt them.
  await startBatches(
    deps,
    deliveries.filter(({ batchId }) => batchId !== null),
    'recovery',
  );
  await startAll(
    deps,
    deliveries.filter(({ batchId }) => batchId === null),
    { concurrency: CONCURRENCY, startOne: (delivery) => recovered.startRecovered(delivery) },
  );
  if (deliveries.length > 0) return pace.pauseMs();
  return kept ? YIELD_MS : BLOCKED_MS;
}

/** Half of the places at a receiver are left to what is fresh. */
function halved(limits: InFlightLimits): InFlightLimits {
  const half = (most: number) => Math.ceil(most / 2);
  const halves = <K>(known: ReadonlyMap<K, number>) =>
    new Map([...known].map(([key, most]) => [key, half(most)]));
  return {
    webhook: half(limits.webhook),
    host: half(limits.host),
    eshop: half(limits.eshop),
    eshops: halves(limits.eshops),
    webhooks: halves(limits.webhooks),
    hosts: halves(limits.hosts),
  };
}
