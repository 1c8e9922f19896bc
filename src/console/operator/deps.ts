/** The dependencies of the operators' pages. */
import type { RecoveryAction } from '../../domain/recovery.ts';
import type { RecoveryStatus } from '../../domain/recovery-progress.ts';
import type { NamedCount } from '../badges.tsx';

export interface InstallationStatus {
  /** Problems that need attention, in one sentence each. */
  readonly needs: readonly string[];
  /** Their paths are below that of all e-shops. */
  readonly counts: readonly NamedCount[];
  /** Everything shown by `waybill status` and `waybill top`. */
  readonly rows: readonly (readonly [string, string])[];
}

export interface ShownRecovery extends RecoveryStatus {
  readonly count: number;
  readonly since: Date;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
}

export interface OperatorDeps {
  installation(): Promise<InstallationStatus>;
  /** Of all e-shops: those under way, and the newest of the others. */
  recoveries(): Promise<readonly ShownRecovery[]>;
  /** @param comment the reason, and the operator */
  control(
    recoveryId: string,
    action: RecoveryAction,
    comment: string,
  ): Promise<{ readonly done: boolean; readonly message: string }>;
}
