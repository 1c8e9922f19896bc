/** What e-shops are told of by mail. */
import type { EventType } from './event-types.ts';

/** A deactivation of a webhook. */
export interface Deactivation {
  readonly webhookId: number;
  readonly webhookType: EventType;
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

/** A webhook whose secret, or whose static headers, no key opened. */
export interface LostWebhook {
  readonly id: number;
  readonly webhookType: EventType;
  readonly url: string;
  /** The names of its static headers, whose values are lost and no longer sent; empty without any. */
  readonly headers: readonly string[];
}
