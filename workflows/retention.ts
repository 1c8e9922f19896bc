/** A run of the retention, by the hourly schedule `retention/<task queue>`. Its details show its result. */
import { setCurrentDetails } from '@temporalio/workflow';
import { ownSteps } from './own-steps.ts';
import { type RetentionActivities, type RetentionResult, retentionOptions } from './retention-types.ts';

/** Runs the retention once. */
export async function retention(): Promise<RetentionResult> {
  const { retain } = ownSteps<RetentionActivities>(retentionOptions);
  const done = await retain();
  setCurrentDetails(done.message);
  return done;
}
