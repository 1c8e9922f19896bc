/** What the workflow of a recovery shows in the Temporal UI. */
import { recoveryWorkflowId } from '../../../workflows/recovery-types.ts';
import type { DeliveryStack } from './delivery-stack.ts';

/** Waits until the workflow shows this state; returns its details. */
export async function untilRecoveryShown(
  stack: DeliveryStack,
  recoveryId: string,
  state: string,
): Promise<string> {
  return await stack.until(`the workflow to say ${state}`, async () => {
    const { currentDetails } = await stack.client.workflow
      .getHandle(recoveryWorkflowId(recoveryId))
      .query<{ currentDetails: string }>('__temporal_workflow_metadata')
      .catch(() => ({ currentDetails: '' }));
    return currentDetails.includes(`\n${state}`) && currentDetails;
  });
}
