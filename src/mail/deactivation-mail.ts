/**
 * The mail after Waybill deactivated a webhook (docs/interface.md, D7 and D8).
 * @module
 */
import type { Mail } from './mail.ts';

/** What the mail tells. */
export interface Deactivation {
  readonly webhookId: number;
  readonly webhookType: string;
  readonly url: string;
  /** Which activation of the webhook ended. */
  readonly generation: number;
  /** `gone`: the receiver answered 410. */
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
 * crash is recognised as one; the delivery's id keeps those of two installations apart.
 */
export function deactivationMail(deactivation: Deactivation): Mail {
  const { webhookId, webhookType, generation, deliveryId, email } = deactivation;
  return {
    to: email,
    subject: `Webhook ${webhookId} (${webhookType}) was deactivated`,
    text: text(deactivation),
    messageId: `<webhook-${webhookId}-${generation}-${deliveryId}@waybill.local>`,
  };
}

function text({ webhookId, webhookType, url, reason, at, deliveryId, ...rest }: Deactivation): string {
  const { attemptsMade, lastError, eshopName } = rest;
  const attempts = attemptsMade === 1 ? '1 attempt' : `${attemptsMade} attempts`;
  const why =
    reason === 'gone'
      ? 'The receiver answered HTTP 410 (gone), which asks us to send nothing more.'
      : `Delivery ${deliveryId} failed permanently after ${attempts}; no retries are left.`;
  return `${eshopName},

webhook ${webhookId} was deactivated at ${at.toISOString()}. It receives nothing until it is activated again.

  Webhook:     ${webhookId}
  Type:        ${webhookType}
  URL:         ${url}
  Reason:      ${why}
  Last error:  ${lastError ?? 'none recorded'}
  Delivery:    ${deliveryId} (${attempts})

To reactivate it once its receiver works again, send

  PUT /v21/webhooks/${webhookId}/activate

Deliveries of this webhook that are still open then resume, each within its own time limit. Every attempt
of the failed one is in the answer to

  GET /v21/deliveries/${deliveryId}

This message was sent by Waybill. Replies to it are not read.
`;
}
