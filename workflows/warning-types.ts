/** The data exchanged by the workflow of a warning and its activity: identifiers. */

import type { MailTimes } from './delivery-types.ts';

/** Input of `warnOfDeactivation`. The content of the warning is read when it is mailed. */
export interface WarningInput extends MailTimes {
  readonly warningId: string;
  readonly webhookId: number;
  /** The warning is about lost secrets of the e-shop's webhooks. */
  readonly ofSecrets?: boolean;
}

/** The result of a warning. */
export interface WarningResult {
  /** `dropped`: nothing to warn of. `refused`: by the mail server, for a day. `endedBefore`: had ended already. */
  readonly outcome: 'mailed' | 'dropped' | 'refused' | 'endedBefore';
}

/** Activities of a warning; made by `createWarningActivities`. */
export interface WarningActivities {
  mailWarning(warningId: string): Promise<WarningResult>;
}

/** `warning/<warning id>` */
export function warningWorkflowId(warningId: string): string {
  return `warning/${warningId}`;
}

/** "warning: webhook 7 is failing": a warning in one line. */
export function warningTitle({
  webhookId,
  ofSecrets = false,
}: Pick<WarningInput, 'webhookId' | 'ofSecrets'>): string {
  return ofSecrets ? 'warning: secrets of webhooks are lost' : `warning: webhook ${webhookId} is failing`;
}
