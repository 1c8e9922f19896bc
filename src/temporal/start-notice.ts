/** Starts the workflows of notices. */
import type { Client } from '@temporalio/client';
import { TypedSearchAttributes, WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/common';
import type { MailTimes } from '../../workflows/delivery-types.ts';
import { type NoticeInput, noticeTitle, noticeWorkflowId } from '../../workflows/notice-types.ts';
import type { notifyEshop } from '../../workflows/notify-eshop.ts';
import { priorityOf } from '../../workflows/priorities.ts';
import { eshopIdKey, webhookIdKey, webhookTypeKey } from '../../workflows/search-attributes.ts';
import type { PendingNotice } from '../db/notices/pending.ts';
import { startWorkflow } from './workflow-calls.ts';

export type StartNotice = ReturnType<typeof createStartNotice>;

export function createStartNotice(client: Client, taskQueue: string, mailTimes: MailTimes = {}) {
  /** Starts its workflow unless that runs. One that has ended is started again: its notice is still unsent. */
  return async ({ id: noticeId, eshopId, kind, webhookId, webhookType }: PendingNotice): Promise<void> => {
    const about = webhookId === null ? {} : { webhookId };
    const input: NoticeInput = { noticeId, kind, ...about, ...mailTimes };
    await startWorkflow<typeof notifyEshop>(client, 'notifyEshop', {
      workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
      taskQueue,
      workflowId: noticeWorkflowId(noticeId),
      args: [input],
      priority: priorityOf('notice', eshopId),
      staticSummary: noticeTitle(input),
      typedSearchAttributes: new TypedSearchAttributes([
        { key: eshopIdKey, value: eshopId },
        ...(webhookId === null ? [] : [{ key: webhookIdKey, value: webhookId }]),
        ...(webhookType === null ? [] : [{ key: webhookTypeKey, value: webhookType }]),
      ]),
    });
  };
}
