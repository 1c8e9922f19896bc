/** The mail after Waybill deactivated a webhook (docs/interface.md, D7 and D8). */
import { shortTypes } from '../domain/event-types.ts';
import type { Deactivation } from '../domain/mailed.ts';
import { counted } from '../domain/text.ts';
import { nameOf } from '../domain/webhook-name.ts';
import { typesFact, typesOf } from '../domain/webhook-types.ts';
import type { MailContent } from './mail-template.ts';

const RECOVER = 'POST /v21/webhooks/{id}/recover';

/** Webhook, generation and delivery make its Message-ID, so that a repetition after a crash is recognized. */
export function deactivationMail(deactivation: Deactivation): MailContent {
  const { webhookId, generation, url, reason, at, deliveryId, attemptsMade, lastError, activeAgain } =
    deactivation;
  const since = deactivation.lostSince.toISOString();
  const attempts = counted(attemptsMade, 'attempt');
  const why =
    reason === 'gone'
      ? 'The receiver responded with HTTP 410 (Gone), which means that nothing more should be sent.'
      : `Delivery ${deliveryId} failed permanently after ${attempts}; no retries are left.`;
  return {
    to: deactivation.email,
    subject: `Webhook ${webhookId} (${shortTypes(typesOf(deactivation))}) was deactivated`,
    messageId: `<webhook-${webhookId}-${generation}-${deliveryId}@waybill.local>`,
    tone: 'bad',
    blocks: [
      `${deactivation.eshopName},`,
      `webhook ${webhookId} was deactivated at ${at.toISOString()}. ${activeAgain ? 'It has been activated again since.' : 'It will receive nothing until it is activated again.'}`,
      {
        facts: [
          ['Webhook', `${webhookId}: ${nameOf(deactivation)}`],
          typesFact(deactivation),
          ['URL', url],
          ['Reason', why],
          ['Last error', lastError ?? 'none recorded'],
          ['Delivery', `${deliveryId} (${attempts})`],
        ],
      },
      ...(activeAgain
        ? []
        : [
            'Once its receiver works again, reactivate it with',
            { request: 'PUT /v21/webhooks/{id}/activate', id: webhookId },
            'Open deliveries of this webhook will then resume, each within its own time limit.',
          ]),
      `Events of the time in which it ${activeAgain ? 'was' : 'is'} inactive create no deliveries. To count those that it missed, together with deliveries that failed or expired, which may have begun earlier:`,
      { request: RECOVER, id: webhookId, body: `{"since": "${since}", "dryRun": true}` },
      `${activeAgain ? 'To' : 'Once it is active again, to'} have them delivered:`,
      { request: RECOVER, id: webhookId, body: `{"since": "${since}"}` },
      'Every attempt of the failed delivery is listed by',
      { request: 'GET /v21/deliveries/{id}', id: deliveryId },
    ],
  };
}
