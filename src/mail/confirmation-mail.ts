/** The mail that asks whether an address wants notices (docs/interface.md, N6). */
import { CONFIRM_PATH, CONFIRMATION_DAYS } from '../domain/notifications.ts';
import { counted } from '../domain/text.ts';
import type { MailContent } from './mail-template.ts';
import { type MailedNotice, noticeMessageId } from './recovered-mail.ts';

/** @param token of the link */
export function confirmationMail({ id, eshopName, email }: MailedNotice, token: string): MailContent {
  return {
    to: email,
    subject: `Notices about the webhooks of ${eshopName}`,
    messageId: noticeMessageId(id),
    tone: 'good',
    blocks: [
      `${eshopName} would like this address to be notified when one of its webhooks is failing, was deactivated, or has recovered.`,
      'If you want that, confirm it on this page:',
      { link: `${CONFIRM_PATH}/${token}`, label: 'Confirm this address' },
      `The link is valid for ${counted(CONFIRMATION_DAYS, 'day')}. If you do nothing, nothing is sent to you.`,
    ],
  };
}
