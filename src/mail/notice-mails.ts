/** The mails that ask for a confirmation, and about the recovery of a webhook (docs/interface.md, N6 and N8). */
import { shortTypes } from '../domain/event-types.ts';
import type { RecoveredWebhook } from '../domain/mailed.ts';
import { CONFIRM_PATH, CONFIRMATION_DAYS } from '../domain/notifications.ts';
import { counted, minute } from '../domain/text.ts';
import { nameOf } from '../domain/webhook-name.ts';
import { typesFact, typesOf } from '../domain/webhook-types.ts';
import type { MailContent } from './mail-template.ts';

/** To whom, and the notice's id for the Message-ID. */
export interface MailedNotice {
  readonly id: string;
  readonly eshopName: string;
  readonly email: string;
}

/** Asks whether an address wants notices. @param token of the link */
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

export function recoveredMail({ id, eshopName, email }: MailedNotice, well: RecoveredWebhook): MailContent {
  const { webhookId, url, recoveredAt } = well;
  return {
    to: email,
    subject: `Webhook ${webhookId} (${shortTypes(typesOf(well))}) has recovered`,
    messageId: noticeMessageId(id),
    tone: 'good',
    blocks: [
      `${eshopName},`,
      `webhook ${webhookId} has been working since ${minute(recoveredAt)}: a delivery was accepted.`,
      {
        facts: [
          ['Webhook', `${webhookId}: ${nameOf(well)}`],
          typesFact(well),
          ['URL', url],
          ['Working again since', minute(recoveredAt)],
        ],
      },
      'Deliveries that are still being retried follow automatically, each at its time. To turn off such notices:',
      { request: 'PATCH /v21/eshop', body: '{"notifications": {"recovered": false}}' },
    ],
  };
}

/** The same for every repetition of a mail. */
export const noticeMessageId = (noticeId: string): string => `<notice-${noticeId}@waybill.local>`;
