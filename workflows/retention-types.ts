/** What the retention and its activity exchange. */

import type { ActivityOptions } from '@temporalio/workflow';

export interface RetentionInput {
  /** True: nothing is changed, and the result says what would be done. */
  readonly dryRun: boolean;
}

/** What a run did; the partitions by their names, as the log and `waybill retention` say them. */
export interface RetentionResult {
  readonly sentence: string;
  readonly made: readonly string[];
  readonly dropped: readonly { readonly partition: string; readonly rows: number }[];
  readonly kept: readonly { readonly partition: string; readonly neededBy: number }[];
  readonly removed: { readonly deliveries: number; readonly events: number };
  readonly forgotten: {
    readonly importKeys: number;
    readonly rows: number;
    readonly erased: number;
    readonly webhooks: number;
  };
  readonly astray: number;
  readonly postponed: readonly string[];
}

/** Activities of the retention; made by `createRetentionActivities`. */
export interface RetentionActivities {
  /** Makes partitions ahead and drops those that are past their time. May be repeated. */
  retain(input: RetentionInput): Promise<RetentionResult>;
}

/** A run that has not succeeded within the hour fails, so that it can be found; the next one begins anew. */
export const retentionOptions: ActivityOptions = {
  startToCloseTimeout: 55 * 60_000,
  scheduleToCloseTimeout: 55 * 60_000,
  heartbeatTimeout: 30_000,
  retry: { initialInterval: 5_000, backoffCoefficient: 2, maximumInterval: 5 * 60_000 },
  summary: 'weeks made ahead, old ones dropped',
};

/** `retention/<task queue>`: the schedule, and with the time of the run behind it the workflow. */
export function retentionId(taskQueue: string): string {
  return `retention/${taskQueue}`;
}
