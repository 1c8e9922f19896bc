/** One request with a sample, to see whether a receiver works (docs/interface.md, W13). */
import type { EventType } from './event-types.ts';
import type { WebhookForm } from './webhook.ts';

export interface WebhookWithSecrets extends WebhookForm {
  readonly eshopId: number;
  readonly webhookId: number;
  readonly webhookType: EventType;
  /** Static ones, sealed; null without any. */
  readonly headers: Buffer | null;
  /** Sealed, as its previous one, which signs too until its time has come. */
  readonly secret: Buffer;
  readonly previousSecret: Buffer | null;
  readonly previousSecretUntil: Date | null;
  /** The database's clock when this was read. */
  readonly now: Date;
}

/** The outcome of a test delivery. `inconclusive`: the service itself failed, which says nothing about the receiver. */
export const testOutcomes = ['success', 'failure', 'gone', 'inconclusive'] as const;

export interface TestDeliveryResult {
  readonly request: {
    readonly method: 'POST' | 'GET';
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    /** JSON text; null on GET. */
    readonly body: string | null;
  };
  /** Null where none arrived. */
  readonly response: {
    readonly status: number;
    /** Those that help to find out what is wrong. */
    readonly headers: Readonly<Record<string, string>>;
    readonly excerpt: string | null;
  } | null;
  readonly durationMs: number;
  readonly outcome: (typeof testOutcomes)[number];
  /** A sentence; null after a success. */
  readonly error: string | null;
}

/** Makes one request to a webhook. Records nothing. @throws Error where its secret cannot be opened */
export type SendTest = (webhook: WebhookWithSecrets) => Promise<TestDeliveryResult>;
