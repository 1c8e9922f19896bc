/** What the operators' pages are given. */
import type { RecoveryAction } from '../../domain/recovery.ts';
import type { RecoveryStatus } from '../../domain/recovery-progress.ts';

/** A line of `waybill status`. */
type StatusRow = readonly [string, string];

/** How the installation is, at one moment. */
export interface InstallationStatus {
  /** What needs somebody, each in a sentence. */
  readonly needs: readonly string[];
  /** All that `waybill status` and `waybill top` say. */
  readonly rows: readonly StatusRow[];
  /** Null while the database cannot be used. */
  readonly work: {
    /** Deliveries in the outbox, and for how long the oldest of them has waited, in words. */
    readonly waiting: number;
    readonly oldest: string | null;
    readonly pending: number;
    readonly retrying: number;
    readonly held: number;
    readonly incidents: number;
    readonly recoveries: number;
  } | null;
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
  /** Of all e-shops: those that are under way, and the newest that are not. */
  recoveries(): Promise<readonly ShownRecovery[]>;
  /** @param words why, and who */
  control(
    recoveryId: string,
    action: RecoveryAction,
    words: string,
  ): Promise<{ readonly done: boolean; readonly sentence: string }>;
}
