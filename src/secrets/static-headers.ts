/** The static headers of a webhook as they are stored: sealed as its secret is, with their names, which are shown, beside them. */
import type { Keys, SecretOwner } from './keys.ts';

type Headers = Readonly<Record<string, string>>;

export interface SealedHeaders {
  /** Null without any. */
  readonly headers: Buffer | null;
  readonly headerNames: readonly string[] | null;
}

/** What of a webhook is stored sealed. */
export interface SealedWebhook extends SealedHeaders {
  readonly secret: Buffer;
}

/** Seals what a new webhook has, for the id that it gets. */
export function sealing(
  keys: Pick<Keys, 'encryptSecret'>,
  eshopId: number,
  { secret, headers = null }: { readonly secret: string; readonly headers?: Headers | null },
): (webhookId: number) => SealedWebhook {
  return (webhookId) => {
    const owner = { eshopId, webhookId };
    return { secret: keys.encryptSecret(secret, owner), ...sealHeaders(keys, headers, owner) };
  };
}

export function sealHeaders(
  keys: Pick<Keys, 'encryptSecret'>,
  headers: Headers | null,
  owner: SecretOwner,
): SealedHeaders {
  if (headers === null) return { headers: null, headerNames: null };
  return {
    headers: keys.encryptSecret(JSON.stringify(headers), owner),
    headerNames: Object.keys(headers),
  };
}

/** @throws Error when they were changed, or sealed under another key or for another webhook */
export function openHeaders(keys: Pick<Keys, 'decryptSecret'>, sealed: Buffer, owner: SecretOwner): Headers {
  const headers: Headers = JSON.parse(keys.decryptSecret(sealed, owner));
  return headers;
}
