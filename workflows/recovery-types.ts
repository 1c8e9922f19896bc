/** What the workflow of a recovery and its activities exchange: identifiers, times and counts. */
import type { Recoverable, RecoveryAction } from '../src/domain/recovery.ts';
import type { Progress } from '../src/domain/recovery-progress.ts';

/** Input of `recoverWebhook`. Which deliveries it is about is in the database. */
export interface RecoverWebhookInput {
  readonly recoveryId: string;
  readonly eshopId: number;
  readonly webhookId: number;
  /** Of the events, ISO 8601 in UTC: from here on, and before this. */
  readonly since: string;
  readonly until: string;
  readonly include: readonly Recoverable[];
  /** Events found when it was requested. */
  readonly found: number;
}

/** How far a recovery has come. */
export interface RecoveryProgress extends Omit<Progress, 'estimatedEndAt'> {
  /** ISO 8601 in UTC; null where it is not known. */
  readonly estimatedEndAt: string | null;
}

/** Activities of a recovery; made by `createRecoveryActivities`. */
export interface RecoveryActivities {
  /** Creates as many deliveries as the receiver takes. */
  advanceRecovery(recoveryId: string): Promise<RecoveryProgress>;
  /** What an operator asks for in Temporal. What is so already stays as it is. */
  controlRecovery(input: {
    readonly recoveryId: string;
    readonly action: RecoveryAction;
    readonly reason: string;
  }): Promise<RecoveryProgress>;
}

/** What an operator says with `pause`, `resume` and `cancel`. */
export interface RecoveryOrder {
  /** For the e-shop to read. */
  readonly reason?: string;
}

/** Signal: the recovery or its webhook changed. Carries no command. */
export const recoveryChangedSignal = 'recoveryChanged';

/** `recovery/<recovery id>` */
export function recoveryWorkflowId(recoveryId: string): string {
  return `recovery/${recoveryId}`;
}
