/** The data exchanged by the workflow of a recovery and its activities: identifiers, times and counts. */
import type { Recoverable } from '../src/domain/recovery.ts';
import type { Progress } from '../src/domain/recovery-progress.ts';

/** Input of `recoverWebhook`. The deliveries are in the database. */
export interface RecoverWebhookInput {
  readonly recoveryId: string;
  readonly eshopId: number;
  readonly webhookId: number;
  /** The period of the events, ISO 8601 in UTC: `since` is included, `until` is not. */
  readonly since: string;
  readonly until: string;
  readonly include: readonly Recoverable[];
  /** Events found when it was requested. */
  readonly found: number;
}

/** The progress of a recovery. */
export interface RecoveryProgress extends Omit<Progress, 'estimatedEndAt'> {
  /** ISO 8601 in UTC; null if not known. */
  readonly estimatedEndAt: string | null;
}

/** Activities of a recovery; made by `createRecoveryActivities`. */
export interface RecoveryActivities {
  /** Creates as many deliveries as the receiver can take. */
  advanceRecovery(recoveryId: string): Promise<RecoveryProgress>;
  /** Cancels a recovery whose workflow an operator canceled in Temporal. */
  cancelRecovery(recoveryId: string): Promise<RecoveryProgress>;
}

/** Signal: the recovery or its webhook changed. The signal carries no command. */
export const recoveryChangedSignal = 'recoveryChanged';

/** `recovery/<recovery id>` */
export function recoveryWorkflowId(recoveryId: string): string {
  return `recovery/${recoveryId}`;
}
