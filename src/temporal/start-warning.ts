/** Starts the workflows that warn of deactivations and lost secrets. */
import type { Client } from '@temporalio/client';
import { TypedSearchAttributes, WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/common';
import type { MailTimes } from '../../workflows/delivery-types.ts';
import { priorityOf } from '../../workflows/priorities.ts';
import { eshopIdKey, webhookIdKey, webhookTypeKey } from '../../workflows/search-attributes.ts';
import type { warnOfDeactivation } from '../../workflows/warn-of-deactivation.ts';
import { type WarningInput, warningTitle, warningWorkflowId } from '../../workflows/warning-types.ts';
import type { UnsentWarning } from '../db/incidents/warnings.ts';
import { startWorkflow } from './workflow-calls.ts';

export type WarningStarter = ReturnType<typeof createWarningStarter>;

export function createWarningStarter(client: Client, taskQueue: string, mailTimes: MailTimes = {}) {
  return {
    /**
     * Starts the workflow of a pending warning, unless it runs. One that has ended is started again: its mail is
     * still unsent.
     */
    async startWarning({ id, eshopId, webhookId, webhookType, ofSecrets }: UnsentWarning): Promise<void> {
      const input: WarningInput = {
        warningId: id,
        webhookId,
        ...(ofSecrets ? { ofSecrets } : {}),
        ...mailTimes,
      };
      await startWorkflow<typeof warnOfDeactivation>(client, 'warnOfDeactivation', {
        workflowId: warningWorkflowId(id),
        workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
        workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
        taskQueue,
        args: [input],
        priority: priorityOf('warning', eshopId),
        staticSummary: warningTitle(input),
        typedSearchAttributes: new TypedSearchAttributes([
          { key: eshopIdKey, value: eshopId },
          { key: webhookIdKey, value: webhookId },
          { key: webhookTypeKey, value: webhookType },
        ]),
      });
    },
  };
}
