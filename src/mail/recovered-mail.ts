/** The mail about the recovery of a webhook (docs/interface.md, N8). */
import { shortTypes } from '../domain/event-types.ts';
import type { RecoveredWebhook } from '../domain/mailed.ts';
import { minute } from '../domain/text.ts';
import { nameOf } from '../domain/webhook-name.ts';
import { typesFact, typesOf } from '../domain/webhook-types.ts';
import type { MailContent } from './mail-template.ts';

/** To whom, and the notice's id for the Message-ID. */
export interface MailedNotice {
  readonly id: string;
  readonly eshopName: string;
  readonly email: string;
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
