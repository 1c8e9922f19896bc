/** The dependencies of the operators' pages. */
import type { RecoveryAction } from '../../domain/recovery.ts';
import type { RecoveryStatus } from '../../domain/recovery-progress.ts';

export interface InstallationStatus {
  /** Problems that need attention, in one sentence each. */
  readonly needs: readonly string[];
  /** Everything shown by `waybill status` and `waybill top`. */
  readonly rows: readonly (readonly [string, string])[];
  /** Deliveries in the queue, and the wait of the oldest. */
  readonly waiting: number;
  readonly oldest: string | null;
  readonly pending: number;
  readonly retrying: number;
  readonly held: number;
  readonly incidents: number;
  readonly recoveries: number;
  /** Null while Temporal cannot be used. */
  readonly workers: number | null;
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
