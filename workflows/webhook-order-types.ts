/**
 * What an operator asks of a webhook by starting a workflow, and what its activities answer: identifiers, times and sentences.
 */
import type { ActivityOptions } from '@temporalio/workflow';
import type { Recoverable } from '../src/domain/recovery.ts';
import { ownStepOptions } from './delivery-options.ts';

/** Input of `activateWebhook` and `testWebhook`, as an operator types it: checked when it is carried out. */
export interface WebhookOrder {
  readonly webhookId: number;
  readonly reason?: string;
  /** Who asks. */
  readonly by?: string;
}

/** Input of `recoverMissed`. */
export interface RecoverOrder extends WebhookOrder {
  /** Of the events, ISO 8601: from here on, and before this; without an end: until now. */
  readonly since: string;
  readonly until?: string;
  /** Default: all but what was canceled. */
  readonly include?: readonly Recoverable[];
  /** Only counts. */
  readonly dryRun?: boolean;
}

/** What came of it. */
export interface WebhookOrderResult {
  /** What was done, or what follows. */
  readonly sentence: string;
  readonly webhookId: number;
  /** The recovery that was begun, or was under way; its workflow is `recovery/<recovery id>`. */
  readonly recoveryId?: string;
}

/** What came of it, or why it is refused. */
export type WebhookOrderAnswer =
  | ({ readonly accepted: true } & WebhookOrderResult)
  | { readonly accepted: false; readonly sentence: string };

/** Activities of these workflows; made by `createWebhookOrders`. */
export interface WebhookOrderActivities {
  activateWebhook(order: WebhookOrder): Promise<WebhookOrderAnswer>;
  testWebhook(order: WebhookOrder): Promise<WebhookOrderAnswer>;
  recoverMissed(order: RecoverOrder): Promise<WebhookOrderAnswer>;
}

/** Options of the step that waits for a receiver: as long as an attempt may last, whatever is configured. */
export const webhookTestOptions: ActivityOptions = { ...ownStepOptions, startToCloseTimeout: 120_000 };
