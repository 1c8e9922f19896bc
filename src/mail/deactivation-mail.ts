/** The mail after Waybill deactivated a webhook (docs/interface.md, D7 and D8). */
import { counted } from '../domain/words.ts';
import type { Mail } from './mail.ts';
import { joined, type MailContent, mailOf } from './mail-template.ts';
import { activation, readDelivery } from './requests.ts';

export interface Deactivation {
  readonly webhookId: number;
  readonly webhookType: string;
  readonly url: string;
  /** Which activation of the webhook ended. */
  readonly generation: number;
  /** `gone`: the receiver responded with 410. */
  readonly reason: 'retriesExhausted' | 'gone';
  readonly at: Date;
  /** The delivery that was the last straw. */
  readonly deliveryId: string;
  /** How many attempts it had. */
  readonly attemptsMade: number;
  /** A sentence such as "HTTP 503 from shop.example after 212 ms". */
  readonly lastError: string | null;
  readonly eshopName: string;
  /** Whom it goes to: the e-shop's address. */
  readonly email: string;
}

/**
 * The mail about a deactivation. Webhook, generation and delivery make its Message-ID, so that a repetition after a
 * crash is recognised.
 * @param publicUrl where the API is; null: not known
 * @param others that were put off, and are said in the same mail
 */
export function deactivationMail(
  deactivation: Deactivation,
  publicUrl: string | null,
  others: readonly Deactivation[] = [],
): Mail {
  return mailOf(joined([deactivation, ...others].map(contentOf)), publicUrl);
}

function contentOf(deactivation: Deactivation): MailContent {
  const { webhookId, webhookType, generation, deliveryId, email } = deactivation;
  return {
    to: email,
    subject: `Webhook ${webhookId} (${webhookType}) was deactivated`,
    messageId: `<webhook-${webhookId}-${generation}-${deliveryId}@waybill.local>`,
    tone: 'bad',
    blocks: blocksOf(deactivation),
  };
}

function blocksOf({ webhookId, webhookType, url, reason, at, deliveryId, ...rest }: Deactivation) {
  const { attemptsMade, lastError, eshopName } = rest;
  const attempts = counted(attemptsMade, 'attempt');
  const why =
    reason === 'gone'
      ? 'The receiver responded with HTTP 410 (Gone), which means that nothing more should be sent.'
      : `Delivery ${deliveryId} failed permanently after ${attempts}; no retries are left.`;
  return [
    `${eshopName},`,
    `webhook ${webhookId} was deactivated at ${at.toISOString()}. It will receive nothing until it is activated again.`,
    {
      facts: [
        ['Webhook', String(webhookId)],
        ['Type', webhookType],
        ['URL', url],
        ['Reason', why],
        ['Last error', lastError ?? 'none recorded'],
        ['Delivery', `${deliveryId} (${attempts})`],
      ] as const,
    },
    'Once its receiver works again, reactivate it with',
    { request: activation(webhookId, 'activate') },
    'Open deliveries of this webhook will then resume, each within its own time limit. Every attempt of the failed delivery is listed by',
    { request: readDelivery(deliveryId) },
  ];
}
