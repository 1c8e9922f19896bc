/** The mail before Waybill deactivates a webhook (docs/interface.md, W15). */
import { shortTypes } from '../domain/event-types.ts';
import { counted, minute } from '../domain/text.ts';
import { type NamedBy, nameOf } from '../domain/webhook-name.ts';
import { type GivenTypes, typesFact, typesOf } from '../domain/webhook-types.ts';
import type { MailContent } from './mail-template.ts';
import type { MailedNotice } from './notice-mails.ts';

export interface Warning extends GivenTypes, NamedBy, MailedNotice {
  readonly webhookId: number;
  /** The delivery whose last retries it is about; null if everything fails. */
  readonly deliveryId: string | null;
  /** The start of the incident, and how many attempts have failed since. */
  readonly since: Date;
  readonly failures: number;
  readonly lastError: string | null;
  /** Open deliveries of the webhook. */
  readonly open: number;
  /** The earliest time; null if unknown. */
  readonly deactivationAt: Date | null;
}

export function warningMail(warning: Warning): MailContent {
  const { webhookId, deliveryId, since, failures, lastError } = warning;
  const due = warning.deactivationAt === null ? null : minute(warning.deactivationAt);
  return {
    to: warning.email,
    subject: `Webhook ${webhookId} (${shortTypes(typesOf(warning))}) is failing`,
    messageId: `<warning-${warning.id}@waybill.local>`,
    tone: 'warning',
    blocks: [
      `${warning.eshopName},`,
      deliveryId === null
        ? `webhook ${webhookId} has been failing since ${minute(since)}. No delivery has been accepted since then.`
        : `a delivery to webhook ${webhookId} has been failing since ${minute(since)}, and few of its retries are left.`,
      `${due === null ? 'Once' : `On ${due} at the earliest, when`} all retries of a delivery have failed, the webhook will be deactivated. It will then receive nothing until it is activated again.`,
      {
        facts: [
          ['Webhook', `${webhookId}: ${nameOf(warning)}`],
          typesFact(warning),
          ['URL', warning.url],
          ['Failing since', minute(since)],
          ['Failed', counted(failures, 'attempt')],
          ['Last error', lastError ?? 'none recorded'],
          ...(deliveryId === null ? [] : ([['Delivery', deliveryId]] as const)),
          ['Waiting', `${counted(warning.open, 'delivery', 'deliveries')} not accepted yet`],
          ['Deactivation', due === null ? 'not due yet' : `${due} at the earliest`],
        ],
      },
      'To test the receiver with a sample, and see immediately what is wrong:',
      { request: 'POST /v21/webhooks/{id}/test', id: webhookId },
      deliveryId === null
        ? 'To list the deliveries that are being retried, with the time of the next attempt:'
        : 'To see the delivery with all its attempts, and the time of the next one:',
      deliveryId === null
        ? { request: 'GET /v21/webhooks/{id}/deliveries', id: webhookId, query: '?state=retrying' }
        : { request: 'GET /v21/deliveries/{id}', id: deliveryId },
      'Once the receiver accepts deliveries again, there is nothing else to do: they are retried automatically. If it will be down for longer, deactivate the webhook and activate it again later. In the meantime no retries are used up, and events that are missed or expire can be recovered. To deactivate it:',
      { request: 'PUT /v21/webhooks/{id}/deactivate', id: webhookId },
      'This warning is sent only once until a delivery is accepted again. To turn off such warnings:',
      { request: 'PATCH /v21/eshop', body: '{"notifications": {"warning": false}}' },
    ],
  };
}
