/** Starts the workflows of notices. */
import type { Client } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { type NoticeInput, noticeTitle, noticeWorkflowId } from '../../workflows/notice-types.ts';
import type { notifyEshop } from '../../workflows/notify-eshop.ts';
import { priorityOf } from '../../workflows/priorities.ts';
import { eshopIdKey, webhookIdKey, webhookTypeKey } from '../../workflows/search-attributes.ts';
import type { PendingNotice } from '../db/notices/pending.ts';
import { type Former, startAfterActions, startWorkflow } from './workflow-calls.ts';

export type StartNotice = ReturnType<typeof createStartNotice>;

export function createStartNotice(client: Client, taskQueue: string) {
  /**
   * Starts the workflow of a notice, even after an earlier one ended: the notice is still unsent then.
   * @param former `running`: a running workflow is replaced
   * @returns false if one is running
   */
  return async (
    { id: noticeId, eshopId, kind, webhookId, webhookType }: PendingNotice,
    former: Extract<Former, 'ended' | 'running'> = 'ended',
  ): Promise<boolean> => {
    const about = webhookId === null ? {} : { webhookId };
    const input: NoticeInput = { noticeId, kind, ...about };
    return await startWorkflow<typeof notifyEshop>(client, 'notifyEshop', {
      ...startAfterActions[former],
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
