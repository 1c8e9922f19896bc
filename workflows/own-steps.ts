/** The activities that are Waybill's own steps, apart from attempts. */
import {
  type ActivityInterfaceFor,
  type ActivityOptions,
  proxyActivities,
  workflowInfo,
} from '@temporalio/workflow';
import { ownStepOptions } from './delivery-options.ts';
import { stepsQueue } from './delivery-types.ts';

/** Makes the steps run on a task queue of their own. */
export function ownSteps<Steps>(options: ActivityOptions = ownStepOptions): ActivityInterfaceFor<Steps> {
  return proxyActivities<Steps>({ ...options, taskQueue: stepsQueue(workflowInfo().taskQueue) });
}
