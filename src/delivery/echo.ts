/** Static headers in what a receiver answers: some echo their requests, and what they answer is kept. */
import { MASK } from '../domain/static-headers.ts';

/** In characters: shorter parts of a value are found by chance in any text. */
const MIN_PART = 6;
/** In characters: a value that is shorter is no secret, and to mask it would make a text unreadable. */
const MIN_VALUE = 3;
/** A character as URLs, JSON and HTML write it. */
const ESCAPE =
  /%([\da-f]{2})|\\u00([\da-f]{2})|&#x([\da-f]{1,4});|&#(\d{1,5});|\\(["\\/])|&(amp|lt|gt|quot|apos);/iy;
const LONGEST_ESCAPE = '\\u0000'.length;
const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/**
 * Makes what a receiver answered free of the values of the static headers that it was sent, and of the words in them: as they are,
 * as URLs, JSON or HTML write them, and values in Base64.
 * @returns takes a text, whose end may have been cut off
 */
export function withoutEchoes(headers: Readonly<Record<string, string>>): (text: string) => string {
  const values = Object.values(headers).filter(({ length }) => length >= MIN_VALUE);
  const parts = values
    .flatMap((value) => [...value.split(/\s+/), Buffer.from(value).toString('base64')])
    .filter(({ length }) => length >= MIN_PART);
  const secrets = [...new Set([...values, ...parts])].toSorted((a, b) => b.length - a.length);
  if (secrets.length === 0) return (text) => text;
  return (text) => {
    let shown = '';
    for (let at = 0; at < text.length; ) {
      const length = Math.max(...secrets.map((secret) => echoed(text, at, secret)));
      shown += length > 0 ? MASK : text[at];
      at += length || 1;
    }
    return shown;
  };
}

/** How much of a text from here on is a secret, or the beginning of one at its end; 0: nothing. */
function echoed(text: string, at: number, secret: string): number {
  const length = literal(text, at, secret) || escaped(text, at, secret);
  const alone = secret.length >= MIN_PART || !(isWord(text[at - 1]) || isWord(text[at + length]));
  return alone ? length : 0;
}

const isWord = (character: string | undefined) => character !== undefined && /\w/.test(character);

function literal(text: string, at: number, secret: string): number {
  if (text.startsWith(secret, at)) return secret.length;
  const left = text.length - at;
  return left >= MIN_PART && left < secret.length && secret.startsWith(text.slice(at)) ? left : 0;
}

function escaped(text: string, at: number, secret: string): number {
  let end = at;
  for (let matched = 0; matched < secret.length; matched += 1) {
    const [character, length] = characterAt(text, end);
    if (character !== secret[matched] && !(secret[matched] === ' ' && character === '+'))
      return matched >= MIN_PART && isCutOff(text, end) ? text.length - at : 0;
    end += length;
  }
  return end - at;
}

/** The character that is written here, and how long it is written. */
function characterAt(text: string, at: number): readonly [string | undefined, number] {
  ESCAPE.lastIndex = at;
  const found = ESCAPE.exec(text);
  if (found === null) return [text[at], 1];
  const [whole, url, json, hex, decimal, quoted, named] = found;
  const code = url ?? json ?? hex;
  if (code !== undefined) return [String.fromCharCode(Number.parseInt(code, 16)), whole.length];
  if (decimal !== undefined) return [String.fromCharCode(Number(decimal)), whole.length];
  return [quoted ?? NAMED[named?.toLowerCase() ?? ''], whole.length];
}

/** Whether the text ends here, or within an escape that begins here. */
function isCutOff(text: string, at: number): boolean {
  return at >= text.length || (text.length - at < LONGEST_ESCAPE && /[%\\&]/.test(text[at] ?? ''));
}
