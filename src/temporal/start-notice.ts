/** Starts the workflows that tell e-shops something: warnings of deactivations and lost secrets, and notices. */
import type { Client } from '@temporalio/client';
import { TypedSearchAttributes, WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/common';
import type { MailTimes } from '../../workflows/delivery-types.ts';
import { type NoticeInput, noticeTitle, noticeWorkflowId } from '../../workflows/notice-types.ts';
import type { notifyEshop } from '../../workflows/notify-eshop.ts';
import { priorityOf } from '../../workflows/priorities.ts';
import { eshopIdKey, webhookIdKey, webhookTypeKey } from '../../workflows/search-attributes.ts';
import type { warnOfDeactivation } from '../../workflows/warn-of-deactivation.ts';
import { type WarningInput, warningTitle, warningWorkflowId } from '../../workflows/warning-types.ts';
import type { UnsentWarning } from '../db/incidents/warnings.ts';
import type { PendingNotice } from '../db/notices/pending.ts';
import { startWorkflow } from './workflow-calls.ts';

export type NoticeStarter = ReturnType<typeof createNoticeStarter>;

/** It starts a workflow unless that runs. One that has ended is started again: what it sends is still unsent. */
export function createNoticeStarter(client: Client, taskQueue: string, mailTimes: MailTimes = {}) {
  const options = ({
    eshopId,
    webhookId,
    webhookType,
  }: Pick<PendingNotice, 'eshopId' | 'webhookId' | 'webhookType'>) => ({
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    taskQueue,
    priority: priorityOf('warning', eshopId),
    typedSearchAttributes: new TypedSearchAttributes([
      { key: eshopIdKey, value: eshopId },
      ...(webhookId === null ? [] : [{ key: webhookIdKey, value: webhookId }]),
      ...(webhookType === null ? [] : [{ key: webhookTypeKey, value: webhookType }]),
    ]),
  });
  return {
    async startWarning({ id: warningId, ofSecrets, ...about }: UnsentWarning): Promise<void> {
      const { webhookId } = about;
      const input: WarningInput = { warningId, webhookId, ...(ofSecrets ? { ofSecrets } : {}), ...mailTimes };
      await startWorkflow<typeof warnOfDeactivation>(client, 'warnOfDeactivation', {
        ...options(about),
        workflowId: warningWorkflowId(warningId),
        args: [input],
        staticSummary: warningTitle(input),
      });
    },
    async startNotice({ id: noticeId, kind, ...about }: PendingNotice): Promise<void> {
      const { webhookId } = about;
      const input: NoticeInput = {
        noticeId,
        kind,
        ...(webhookId === null ? {} : { webhookId }),
        ...mailTimes,
      };
      await startWorkflow<typeof notifyEshop>(client, 'notifyEshop', {
        ...options(about),
        workflowId: noticeWorkflowId(noticeId),
        args: [input],
        staticSummary: noticeTitle(input),
      });
    },
  };
}
