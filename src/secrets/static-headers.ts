/** The static headers of a webhook as stored: sealed like its secret, together with their names, which are shown. */
import type { Keys, SecretOwner } from './keys.ts';

type Headers = Readonly<Record<string, string>>;

export interface SealedHeaders {
  /** Null if there are none. */
  readonly headers: Buffer | null;
  readonly headerNames: readonly string[] | null;
}

/** The sealed parts of a webhook. */
export interface SealedWebhook extends SealedHeaders {
  readonly secret: Buffer;
}

/** Seals the secrets of a new webhook, once it has an id. */
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
  return { headers: keys.encryptSecret(JSON.stringify(headers), owner), headerNames: Object.keys(headers) };
}

/** @throws Error if they were changed, or sealed under another key or for another webhook */
export function openHeaders(keys: Pick<Keys, 'decryptSecret'>, sealed: Buffer, owner: SecretOwner): Headers {
  const headers: Headers = JSON.parse(keys.decryptSecret(sealed, owner));
  return headers;
}
