/** Tells the workflows of recoveries of changes, and starts them. */
import {
  claimRecoveryChanges,
  noteRecoveryTold,
  releaseRecoveryChanges,
  renewRecoveryChanges,
} from '../db/outbox/recovery-changes.ts';
import type { RecoveryStarter } from '../temporal/start-recovery.ts';
import type { Next } from './loop.ts';
import { passOn } from './pass-on.ts';
import type { PassOnDeps } from './start.ts';

/** What this takes. */
export interface RecoveriesDeps extends Pick<PassOnDeps, 'sql' | 'log' | 'stopping'> {
  readonly recoveries: Pick<RecoveryStarter, 'signalRecoveryChanged'>;
}

/**
 * Passes on one page of changes.
 * @throws what Temporal or the database threw when it is away; what is left is released
 */
export function dispatchRecoveries({ sql, log, recoveries, stopping }: RecoveriesDeps): Promise<Next> {
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
