/**
 * Checks whether a history, which should hold identifiers only (docs/decisions/0011), has anything that looks like a
 * secret: better one history too few than a secret in a folder.
 */
import type { History } from '@temporalio/common/lib/proto-utils.js';

/** Why a history is not kept. */
export interface Finding {
  readonly eventId: number;
  /** "a URL", "the value of SECRET_KEY"; never the text itself. */
  readonly what: string;
}

const PATTERNS: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['a URL', /\b(?:https?|wss?|ftps?|smtps?|amqps?|rediss?|postgres(?:ql)?):\/\/\S/i],
  ['an e-mail address', /[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*\.\p{L}{2,}/u],
  ['a private key', /-----BEGIN /],
  ['a webhook secret', /whsec_/],
  ['an API key', /\bwb_[\w-]{20}/],
  ['a token', /\beyJ[\w-]+\.[\w-]+|\bbearer\s+\S{8}/i],
  ['a key in base64', /(?<![\w+/])[A-Za-z0-9+/]{43}=(?![\w=])/],
];

/** A word of random letters and digits, as keys and tokens are. */
function isRandom(word: string): boolean {
  const count = (pattern: RegExp) => word.match(pattern)?.length ?? 0;
  return count(/[A-Z]/g) >= 4 && count(/[a-z]/g) >= 4 && count(/\d/g) >= 2;
}

function inText(text: string, known: ReadonlyMap<string, string>): string | undefined {
  for (const [name, value] of known) if (text.includes(value)) return `the value of ${name}`;
  const found = PATTERNS.find(([, pattern]) => pattern.test(text));
  if (found !== undefined) return found[0];
  return (text.match(/[\w-]{32,}/g) ?? []).some(isRandom) ? 'what looks like a key' : undefined;
}

function inValue(value: unknown, known: ReadonlyMap<string, string>): string | undefined {
  if (value instanceof Uint8Array) return inText(Buffer.from(value).toString('utf8'), known);
  if (typeof value === 'string') return inText(value, known);
  if (typeof value !== 'object' || value === null) return undefined;
  for (const inner of Object.values(value)) {
    const found = inValue(inner, known);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The first confidential text of a history. @param known certainly confidential values, by name */
export function confidentialIn(history: History, known: ReadonlyMap<string, string>): Finding | undefined {
  for (const event of history.events ?? []) {
    const what = inValue(event, known);
    if (what !== undefined) return { eventId: Number(event.eventId ?? 0), what };
  }
  return undefined;
}
