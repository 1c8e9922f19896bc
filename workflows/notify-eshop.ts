/**
 * One notice to one recipient (docs/interface.md, N5), sent even after a long outage of the recipient or mail server.
 *
 * This code is replayed: any change to its commands needs `patched()` and a history recorded before the change.
 */
import { setCurrentDetails } from '@temporalio/workflow';
import { mailOptions } from './delivery-options.ts';
import type { NoticeResult } from './delivery-types.ts';
import { type NoticeActivities, type NoticeInput, noticeTitle } from './notice-types.ts';
import { ownSteps } from './own-steps.ts';

const ENDS: Readonly<Record<NoticeResult['outcome'], string>> = {
  sent: 'Sent.',
  dropped: 'Not sent: it was no longer true, or no longer wanted.',
  refused: 'Not sent: its recipient, or the mail server, rejected it.',
  endedBefore: 'Had already ended; nothing was sent.',
};

/** Sends the notice, once. */
export async function notifyEshop(input: NoticeInput): Promise<NoticeResult> {
  const { deliverNotice } = ownSteps<NoticeActivities>(mailOptions);
  const result = await deliverNotice(input.noticeId);
  setCurrentDetails(`**${noticeTitle(input)}**\n\n${ENDS[result.outcome]}`);
  return result;
}
