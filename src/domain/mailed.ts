/** The subjects of mails to e-shops. */
import type { NamedBy } from './webhook-name.ts';
import type { GivenTypes } from './webhook-types.ts';

export interface Deactivation extends GivenTypes, NamedBy {
  readonly webhookId: number;
  /** The generation of the webhook that ended. */
  readonly generation: number;
  /** `gone`: the receiver responded with 410. */
  readonly reason: 'retriesExhausted' | 'gone';
  readonly at: Date;
  readonly activeAgain: boolean;
  /** The time of the earliest event that it may have lost. */
  readonly lostSince: Date;
  readonly deliveryId: string;
  readonly attemptsMade: number;
  /** A sentence such as "HTTP 503 from shop.example after 212 ms". */
  readonly lastError: string | null;
  readonly eshopName: string;
  /** The e-shop's address. */
  readonly email: string;
}

/** A webhook whose secret, static headers or signing key no key could open. */
export interface LostWebhook extends GivenTypes, NamedBy {
  readonly id: number;
  /** Whether its secret was lost and replaced by a new one that nobody knows. */
  readonly secret: boolean;
  /** The names of its static headers, whose values are lost and no longer sent; empty if it has none. */
  readonly headers: readonly string[];
  /** Whether it is asymmetric, and its e-shop's signing key was lost and replaced by a new one. */
  readonly signingKey: boolean;
}

export interface RecoveredWebhook extends GivenTypes, NamedBy {
  readonly webhookId: number;
  readonly recoveredAt: Date;
}
