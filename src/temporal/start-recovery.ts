/** Starts the workflows of recoveries, and signals changes to them. */
import type { Client } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { priorityOf } from '../../workflows/priorities.ts';
import type { recoverWebhook } from '../../workflows/recover-webhook.ts';
import {
  type RecoverWebhookInput,
  recoveryChangedSignal,
  recoveryWorkflowId,
} from '../../workflows/recovery-types.ts';
import { recoveryDetails, recoveryTitle } from '../../workflows/recovery-view.ts';
import { eshopIdKey, webhookIdKey, webhookTypeKey } from '../../workflows/search-attributes.ts';
import type { ChangedRecovery } from '../db/outbox/recovery-changes.ts';
import {
  type Former,
  signalWorkflow,
  startAfterActions,
  startOrSignalWorkflow,
  startWorkflow,
} from './workflow-calls.ts';

export type RecoveryStarter = ReturnType<typeof createRecoveryStarter>;

export function createRecoveryStarter(client: Client, taskQueue: string) {
  function options(recovery: ChangedRecovery) {
    const { id, eshopId, webhookId, webhookType, since, until, include, found } = recovery;
    const input: RecoverWebhookInput = {
      recoveryId: id,
      eshopId,
      webhookId,
      since: since.toISOString(),
      until: until.toISOString(),
      include,
      found,
    };
    const args: [RecoverWebhookInput] = [input];
    return {
      workflowId: recoveryWorkflowId(id),
      taskQueue,
      args,
      priority: priorityOf('recovery', eshopId),
      staticSummary: recoveryTitle(input),
      staticDetails: recoveryDetails(input),
      typedSearchAttributes: new TypedSearchAttributes([
        { key: eshopIdKey, value: eshopId },
        { key: webhookIdKey, value: webhookId },
        { key: webhookTypeKey, value: webhookType },
      ]),
    };
  }

  return {
    /** Starts the workflow of a recovery, or signals a change to a running one; starts none for an ended recovery. */
    async signalRecoveryChanged(recovery: ChangedRecovery): Promise<void> {
      const { id, ended } = recovery;
      if (ended) return await signalWorkflow(client, recoveryWorkflowId(id), { name: recoveryChangedSignal });
      await startOrSignalWorkflow<typeof recoverWebhook>(client, 'recoverWebhook', {
        ...options(recovery),
        signal: recoveryChangedSignal,
      });
    },
    /** Starts the workflow of a recovery again. @returns false if another worker was first */
    async restartRecovery(recovery: ChangedRecovery, former: Former): Promise<boolean> {
      return await startWorkflow<typeof recoverWebhook>(client, 'recoverWebhook', {
        ...options(recovery),
        ...startAfterActions[former],
      });
    },
  };
}
