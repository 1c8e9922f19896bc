/**
 * An operator's order for a webhook, given by starting a workflow, and the answers of its activities: identifiers, times and sentences.
 */
import type { ActivityOptions } from '@temporalio/workflow';
import type { Recoverable } from '../src/domain/recovery.ts';
import { ownStepOptions } from './delivery-options.ts';

/** Input of `activateWebhook` and `testWebhook`, as an operator types it: checked when it is carried out. */
export interface WebhookOrder {
  readonly webhookId: number;
  readonly reason?: string;
  /** The name of the person who asks. */
  readonly by?: string;
}

/** Input of `recoverMissed`. */
export interface RecoverOrder extends WebhookOrder {
  /** The period of the events, ISO 8601: `since` is included, `until` is not; default for `until`: now. */
  readonly since: string;
  readonly until?: string;
  /** Default: all except canceled ones. */
  readonly include?: readonly Recoverable[];
  /** True: the events are only counted. */
  readonly dryRun?: boolean;
}

/** The result of an order. */
export interface WebhookOrderResult {
  /** What was done, or will follow. */
  readonly sentence: string;
  readonly webhookId: number;
  /** The recovery that was begun, or was under way; its workflow is `recovery/<recovery id>`. */
  readonly recoveryId?: string;
}

/** The result of an order, or why it is refused. */
export type WebhookOrderAnswer =
  | ({ readonly accepted: true } & WebhookOrderResult)
  | { readonly accepted: false; readonly sentence: string };

/** Activities of these workflows; made by `createWebhookOrders`. */
export interface WebhookOrderActivities {
  activateWebhook(order: WebhookOrder): Promise<WebhookOrderAnswer>;
  testWebhook(order: WebhookOrder): Promise<WebhookOrderAnswer>;
  recoverMissed(order: RecoverOrder): Promise<WebhookOrderAnswer>;
}

/** Options of the step that waits for a receiver: as long as an attempt may last under any configuration. */
export const webhookTestOptions: ActivityOptions = { ...ownStepOptions, startToCloseTimeout: 120_000 };
