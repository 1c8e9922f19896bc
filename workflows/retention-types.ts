/** The data exchanged by the retention and its activity. */
import type { ActivityOptions } from '@temporalio/workflow';
import type { Retained } from '../src/domain/retention-result.ts';

/** The result of a run; partitions are named as in the log and in `waybill retention`. */
export interface RetentionResult extends Retained {
  readonly message: string;
}

/** Activities of the retention; made by `createRetentionActivities`. */
export interface RetentionActivities {
  /** Makes partitions ahead and drops old ones. May be repeated. */
  retain(): Promise<RetentionResult>;
}

/** A run that has not succeeded within the hour fails, so that operators find it. The next run starts over. */
export const retentionOptions: ActivityOptions = {
  startToCloseTimeout: 55 * 60_000,
  scheduleToCloseTimeout: 55 * 60_000,
  heartbeatTimeout: 30_000,
  retry: { initialInterval: 5_000, backoffCoefficient: 2, maximumInterval: 5 * 60_000 },
  summary: 'weeks made ahead, old ones dropped',
};

/**
 * How long a run may take in all, in milliseconds: as long as its step and a few minutes for a busy Temporal.
 * Otherwise a run whose tasks keep failing would stay forever, and no further run would start. Too low: it ends
 * before its step does. Too high: weeks are made and dropped later.
 */
export const RETENTION_RUN_MS = 59 * 60_000;

/**
 * `retention/<task queue>`: the id of the schedule. With the time of a run behind it, the id of the run's workflow.
 */
export function retentionId(taskQueue: string): string {
  return `retention/${taskQueue}`;
}
