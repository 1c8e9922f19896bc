/** Removes static headers from responses: some receivers echo their requests, and responses are kept. */
import { MASK } from '../domain/static-headers.ts';

/** In characters: shorter parts of a value occur by chance in any text. */
const MIN_PART_LENGTH = 6;
/** In characters: a shorter value is no secret, and masking it would make a text unreadable. */
const MIN_VALUE_LENGTH = 3;
/**
 * How many values and parts are looked for in Base64 and hexadecimal, whole values first. Too high: a header of
 * hundreds of cookies costs milliseconds at every response. Too low: a credential in a longer header is found in
 * plain forms alone.
 */
const MAX_CODED = 32;
/** Names of schemes precede the secret, and occur in many error messages (RFC 9110, 11.1). */
const SCHEME = /^(?:bearer|digest|apikey)$/i;
/** Credentials of this scheme are `user:password` in Base64 (RFC 7617). */
const BASIC = /^basic\s+(\S+)$/i;
/** Between words, parameters and cookies. */
const SEPARATORS = /[\s,;&]+/;
/** Before the secret in a parameter, a cookie or `user:password`; quotes may stand around it. */
const NAME = /^[^=:]*[=:]/;
const HTML: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * Masks in a response the values of the static headers of its request, and the credentials in them (words,
 * parameters, cookies, the password of a Basic header): as they are, as JSON, URLs, forms and HTML write them, in
 * Base64 and in hexadecimal, in capitals or small letters (docs/interface.md, W16).
 * @returns a function of a text, whose end may have been cut off
 */
export function withoutEchoes(headers: Readonly<Record<string, string>>): (text: string) => string {
  const values = Object.values(headers).filter(({ length }) => length >= MIN_VALUE_LENGTH);
  if (values.length === 0) return (text) => text;
  let secrets: ReadonlySet<string> | undefined;
  return (text) => {
    // Most responses are empty.
    if (text === '') return text;
    secrets ??= formsOf(secretsIn(values));
    const searched = inSmallLetters(text);
    const echoed = new Uint8Array(text.length);
    for (const secret of secrets)
      for (const [from, to] of placesOf(secret, searched)) echoed.fill(1, from, to);
    let shown = '';
    for (let at = 0; at < text.length; at += 1) {
      if (echoed[at] === 0) shown += text[at];
      else if (at === 0 || echoed[at - 1] === 0) shown += MASK;
    }
    return shown;
  };
}

/** The values, and the credentials in them. */
function secretsIn(values: readonly string[]): string[] {
  const basic = values.map((value) => Buffer.from(BASIC.exec(value)?.[1] ?? '', 'base64').toString());
  // A cookie's value is often escaped, and read by the receiver.
  const whole = [...values, ...basic]
    .flatMap((value) => [value, value.replace(/(?:%[\da-f]{2})+/gi, unescaped)])
    .filter(({ length }) => length >= MIN_VALUE_LENGTH);
  const tokens = whole.flatMap((value) => [...value.split(/\s+/), ...value.split(SEPARATORS)]);
  const parts = tokens
    .flatMap((word) => [word, word.replace(NAME, '').replace(/^["']+|["']+$/g, '')])
    .filter((part) => part.length >= MIN_PART_LENGTH && !SCHEME.test(part));
  return [...new Set([...whole, ...parts])];
}

const unescaped = (escapes: string) => Buffer.from(escapes.replaceAll('%', ''), 'hex').toString();

/** The usual ways to write secrets, in small letters. */
function formsOf(secrets: readonly string[]): ReadonlySet<string> {
  const forms = [...secrets.flatMap(plainForms), ...secrets.slice(0, MAX_CODED).flatMap(codedForms)];
  return new Set(forms.map(inSmallLetters));
}

function plainForms(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const url = encodeURIComponent(secret);
  const html = secret.replace(/[&<>"']/g, (character) => HTML[character] ?? character);
  return [secret, json, json.replaceAll('/', '\\/'), url, url.replaceAll('%20', '+'), html];
}

function codedForms(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const base64 = bytes.toString('base64');
  const forms = [base64, encodeURIComponent(base64), bytes.toString('base64url'), bytes.toString('hex')];
  return forms.filter(({ length }) => length >= MIN_PART_LENGTH);
}

/** Changes only ASCII letters, as values consist of ASCII: the text keeps its length. */
const inSmallLetters = (text: string) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** The places of a secret in a text, including a beginning of it at the end of the text. */
function* placesOf(secret: string, text: string): Generator<readonly [number, number]> {
  const { length } = secret;
  for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + length)) {
    const isAlone = !isWord(text[at - 1]) && !isWord(text[at + length]);
    if (length >= MIN_PART_LENGTH || isAlone) yield [at, at + length];
  }
  for (let cut = Math.min(length - 1, text.length); cut >= MIN_PART_LENGTH; cut -= 1) {
    if (!text.endsWith(secret.slice(0, cut))) continue;
    yield [text.length - cut, text.length];
    return;
  }
}

const isWord = (character: string | undefined) => character !== undefined && /\w/.test(character);
