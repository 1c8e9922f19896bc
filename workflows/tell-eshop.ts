/**
 * One notice to one recipient (docs/interface.md, N5): told even if the recipient or the mail server is away for long.
 *
 * This code is replayed: any change to its commands needs `patched()` and a history recorded before the change.
 */
import { setCurrentDetails } from '@temporalio/workflow';
import { mailOptions } from './delivery-options.ts';
import { type NoticeActivities, type NoticeInput, type NoticeResult, noticeTitle } from './notice-types.ts';
import { ownSteps } from './own-steps.ts';

const ENDS: Readonly<Record<NoticeResult['outcome'], string>> = {
  told: 'Its recipient was told.',
  dropped: 'Not told: it was no longer true, or no longer wanted.',
  refused: 'Not told: its recipient, or the mail server, refused it.',
  endedBefore: 'Had already ended; nothing was told.',
};

/** Tells it, once. */
export async function tellEshop(input: NoticeInput): Promise<NoticeResult> {
  const { tellNotice } = ownSteps<NoticeActivities>(mailOptions(input));
  const result = await tellNotice(input.noticeId);
  setCurrentDetails(`**${noticeTitle(input)}**\n\n${ENDS[result.outcome]}`);
  return result;
}
