/** The secrets of the webhooks, and common mistakes in them. */
import { toBase64 } from './bytes.ts';
import { isKind } from './delivery.ts';
import type { Kind } from './kinds.ts';
import { Refused } from './refused.ts';
import { SECRET_PREFIX } from './signature.ts';

/** One secret, or several: the old and the new one while a secret is being replaced. */
export type SecretList = string | readonly string[];

/**
 * The secrets of all webhooks that call this receiver; each webhook has its own.
 *
 * - one secret or a list: any of them may have signed;
 * - by the id of the webhook (`{ 7: … }`), as in `X-Service-Webhook`: only the secrets of that webhook may have
 *   signed;
 * - by kind of event (`{ CREATE_ORDER: … }`): only the secrets of that kind may have signed, so that no delivery
 *   can pass for one of another kind;
 * - a function, called for every delivery, if they are stored elsewhere.
 */
export type Secrets =
  | SecretList
  | SecretsByKind
  | SecretsByWebhook
  | ((kind: string, webhookId: number) => SecretList | undefined | Promise<SecretList | undefined>);

/** Secrets by kind of event. */
export type SecretsByKind = { readonly [K in Kind]?: SecretList };

/** Secrets by the id of the webhook. */
export interface SecretsByWebhook {
  readonly [webhookId: number]: SecretList;
}

/** The minimum and maximum length of a user's own secret. */
const LENGTH = { min: 24, max: 256 } as const;
/** The number of bytes of the decoded base64 part: 32 in a generated secret. */
const KEY_BYTES = { min: 24, max: 64 } as const;
/** `wb_` and 32 bytes in base64url. */
const API_KEY = /^wb_[\w-]{43}$/;
/** A variable that was not replaced (of a shell, a template, Windows), or words that stand for a secret. */
const PLACEHOLDER =
  /[$#%]\{[^{}]*\}|\$\([^()]*\)|\{\{.*\}\}|^(?:whsec_)?<.*>$|^%.*%$|^\[.*\]$|^\$[A-Za-z_]\w*$/;

const isList = (secrets: Exclude<Secrets, (...asked: never[]) => unknown>): secrets is SecretList =>
  typeof secrets === 'string' || Array.isArray(secrets);

/** A new secret, as the sender makes one. */
export const newSecret = (): string =>
  `${SECRET_PREFIX}${toBase64(crypto.getRandomValues(new Uint8Array(32)))}`;

/** The problem with a secret, as a sentence that does not contain it; null if there is none. */
export function problemOfSecret(secret: unknown, name: string): string | null {
  if (typeof secret !== 'string')
    return `${name} is ${secret === null ? 'null' : typeof secret}, not a text: is the variable it comes from set?`;
  if (secret === '') return `${name} is empty: is the variable it comes from set?`;
  if (secret !== secret.trim())
    return `${name} begins or ends with whitespace, which would be part of the key: remove it (a file or variable often ends with a newline).`;
  if (/[^\S ]/.test(secret))
    return `${name} has a line break or tab in the middle: was it wrapped when it was copied?`;
  if (/^["'`]/.test(secret))
    return `${name} begins with a quotation mark, which would be part of the key: remove the quotes.`;
  if (PLACEHOLDER.test(secret))
    return `${name} is a placeholder: put the secret in its place, or have the variable replaced.`;
  if (API_KEY.test(secret))
    return `${name} is an API key: it must be the "secret" from the response that created the webhook.`;
  if (secret.startsWith(SECRET_PREFIX)) {
    return isKeyInBase64(secret.slice(SECRET_PREFIX.length))
      ? null
      : `${name} is not ${SECRET_PREFIX} and the base64 of ${KEY_BYTES.min} to ${KEY_BYTES.max} bytes: was all of it copied?`;
  }
  if (!/^[ -~]+$/.test(secret) || secret.length < LENGTH.min || secret.length > LENGTH.max)
    return `${name} neither begins with ${SECRET_PREFIX} nor consists of ${LENGTH.min} to ${LENGTH.max} ASCII characters: it must be the whole "secret" from the response that created the webhook, or your own, exactly as you sent it.`;
  return null;
}

function isKeyInBase64(encoded: string): boolean {
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(encoded)) return false;
  const bytes = (encoded.replace(/=+$/, '').length * 3) >> 2;
  return bytes >= KEY_BYTES.min && bytes <= KEY_BYTES.max;
}

/** @throws TypeError naming the problem of the first bad one */
function check(secrets: SecretList, name: string): readonly string[] {
  const list = typeof secrets === 'string' ? [secrets] : secrets;
  if (list.length === 0) throw new TypeError(`${name} is an empty list.`);
  for (const [index, secret] of list.entries()) {
    const problem = problemOfSecret(secret, typeof secrets === 'string' ? name : `${name}[${index}]`);
    if (problem !== null) throw new TypeError(problem);
  }
  return list;
}

/** The kind and webhook whose secret is needed, as in the headers. */
interface Owner {
  readonly kind: string;
  readonly webhook: string;
}

/** The secrets, looked up by webhook and kind. */
export interface SecretSource {
  /** @throws Refused if there is none, or a function returned a bad one */
  of(kind: string, webhook: string): Promise<readonly string[]>;
  /** The other kind or webhook whose secret passes, to report a mix-up; null if none does or it cannot be known. */
  other(owner: Owner, fits: (secret: string) => Promise<boolean>): Promise<string | null>;
}

/**
 * Checks everything that can be checked now.
 * @throws TypeError naming a common mistake: not set, whitespace, quotes, an API key, cut off
 */
export function secretSource(secrets: Secrets): SecretSource {
  if (typeof secrets === 'function') return askedSource(secrets);
  if (typeof secrets !== 'string' && (typeof secrets !== 'object' || secrets === null))
    throw new TypeError(`secrets is ${typeof secrets}: is the variable it comes from set?`);
  if (isList(secrets)) {
    const list = check(secrets, 'secrets');
    return { of: async () => list, other: async () => null };
  }
  return keyedSource(secrets);
}

function askedSource(ask: Extract<Secrets, (...asked: never[]) => unknown>): SecretSource {
  return {
    async of(kind, webhook) {
      const found = await ask(kind, Number(webhook));
      if (found === undefined) throw noSecret(kind, webhook);
      try {
        return check(found, `The secret for ${kind}`);
      } catch (error) {
        throw new Refused('setup', 500, error instanceof Error ? error.message : String(error));
      }
    },
    other: async () => null,
  };
}

function keyedSource(secrets: SecretsByKind | SecretsByWebhook): SecretSource {
  const byKey = new Map<string, readonly string[]>();
  for (const [kind, list] of Object.entries(secrets)) {
    if (list === undefined) throw new TypeError(`secrets.${kind} is undefined: is the variable set?`);
    byKey.set(kind, check(list, `secrets.${kind}`));
  }
  if (byKey.size === 0) throw new TypeError('secrets is empty.');
  return {
    async of(kind, webhook) {
      const found = byKey.get(webhook) ?? byKey.get(kind);
      if (found === undefined) throw noSecret(kind, webhook);
      return found;
    },
    async other({ kind, webhook }, fits) {
      for (const [key, list] of byKey) {
        if (key === kind || key === webhook) continue;
        for (const secret of list) if (await fits(secret)) return isKind(key) ? key : `webhook ${key}`;
      }
      return null;
    },
  };
}

function noSecret(kind: string, webhook: string): Refused {
  const message = `There is no secret for ${kind}: add that of its webhook, ${webhook}, to secrets.`;
  return new Refused('setup', 500, message);
}
