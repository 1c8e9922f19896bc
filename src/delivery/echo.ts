/** Removes static headers from responses: some receivers echo their requests, and responses are kept. */
import { decodeHTML } from 'entities';
import { MASK } from '../domain/static-headers.ts';

/** In characters: shorter parts of a value occur by chance in any text. */
const MIN_PART_LENGTH = 6;
/** In characters: a shorter value is no secret, and masking it would make a text unreadable. */
const MIN_VALUE_LENGTH = 3;
/**
 * How many values and parts are looked for in Base64 and hexadecimal, whole values first: nine codes each. More: a
 * header of hundreds of cookies costs milliseconds at every response. Fewer: a credential in a longer header is
 * found in plain forms alone.
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
/** Characters as escaped in URLs (byte by byte outside ASCII), JSON, JavaScript and HTML. */
const ESCAPE =
  /((?:%[c-f][\da-f])(?:%[89ab][\da-f]){1,3})|%([\da-f]{2})|(?:\\|%)u([\da-f]{4})|\\u\{0*([\da-f]{1,6})\}|\\x([\da-f]{2})|\\(["'\\/])|\\([bfnrtv])|(&(?:#x[\da-f]+|#\d+|[a-z][\da-z]*);?)/gi;
/** The beginning of an escape at the end of a text. */
const CUT_ESCAPE = /(?:%[\da-f]?|\\(?:u\{?[\da-f]{0,5}|x[\da-f]?)?|&[#\w]{0,12})$/i;
/** JSON's escapes of white space; not `\b`, which is invisible. */
const WHITE: Readonly<Record<string, string>> = { f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

/** Spaces of every kind, invisible characters, and the character that replaces them. */
const UNSEEN = /[\s\p{Z}\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}\ufffd]+/gu;

/** A text in one of the ways it can be read. */
interface Reading {
  readonly text: string;
  /** Where each of its characters begins and ends in the original text. */
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

/**
 * Masks in a response the values of the static headers of its request, and the credentials in them (words,
 * parameters, cookies, the password of a Basic header): as they are, as escaped in URLs, JSON, JavaScript or HTML,
 * in Base64, also of a longer text, and in hexadecimal; each in capitals or small letters, and with spaces or
 * invisible characters in between.
 * @returns a function of a text, whose end may have been cut off
 */
export function withoutEchoes(headers: Readonly<Record<string, string>>): (text: string) => string {
  const values = Object.values(headers).filter(({ length }) => length >= MIN_VALUE_LENGTH);
  if (values.length === 0) return (text) => text;
  let secrets: readonly string[] | undefined;
  return (text) => {
    // Most responses are empty.
    if (text === '') return text;
    secrets ??= secretsIn(values);
    const echoed = new Uint8Array(text.length);
    for (const reading of readingsOf(text))
      for (const secret of secrets)
        for (const [from, to] of placesOf(reading, secret, text)) echoed.fill(1, from, to);
    let shown = '';
    for (let at = 0; at < text.length; at += 1) {
      if (echoed[at] === 0) shown += text[at];
      else if (at === 0 || echoed[at - 1] === 0) shown += MASK;
    }
    return shown;
  };
}

/** The texts to mask, in small letters and without spaces, as responses are read. */
function secretsIn(values: readonly string[]): string[] {
  const basic = values.map((value) => Buffer.from(BASIC.exec(value)?.[1] ?? '', 'base64').toString());
  // A cookie's value is often escaped, and read by the receiver.
  const whole = [...values, ...basic].flatMap((value) => [value, unescaped(readingOf(value)).text]);
  const tokens = whole.flatMap((value) => [...value.split(/\s+/), ...value.split(SEPARATORS)]);
  const parts = tokens
    .flatMap((word) => [word, word.replace(NAME, '').replace(/^["']+|["']+$/g, '')])
    .filter((part) => part.length >= MIN_PART_LENGTH && !SCHEME.test(part));
  const clear = [...new Set([...whole, ...parts])];
  const coded = clear
    .slice(0, MAX_CODED)
    .flatMap(inOtherCodes)
    .filter(({ length }) => length >= MIN_PART_LENGTH);
  const read = [...clear, ...coded].map((value) => inSmallLetters(value).replace(UNSEEN, ''));
  return [...new Set(read)].filter(({ length }) => length >= MIN_VALUE_LENGTH);
}

/** Hexadecimal and Base64, in both alphabets (RFC 4648, 4 and 5), alone and within the Base64 of a longer text. */
function inOtherCodes(value: string): string[] {
  const bytes = Buffer.from(value);
  const base64 = bytes.toString('base64');
  const codes = [bytes.toString('hex'), base64, base64.replace(/=+$/, ''), bytes.toString('base64url')];
  for (const before of [0, 1, 2]) {
    const longer = Buffer.concat([Buffer.alloc(before), bytes]);
    // Without the characters that hold bits of its neighbors.
    const [from, to] = [Math.ceil((before * 8) / 6), Math.floor((longer.length * 8) / 6)];
    for (const alphabet of ['base64', 'base64url'] as const)
      codes.push(longer.toString(alphabet).slice(from, to));
  }
  return codes;
}

function readingOf(text: string): Reading {
  const places = Array.from({ length: text.length + 1 }, (_, at) => at);
  return { text, starts: places, ends: places.slice(1) };
}

/**
 * The text as it is, and with its escapes decoded, even nested ones; each also with plus signs as spaces, as in
 * forms. All in small letters, without spaces and invisible characters.
 */
function readingsOf(text: string): Iterable<Reading> {
  const readings = [text, text.replaceAll('+', ' ')].flatMap((each) => {
    const asItIs = readingOf(each);
    const once = unescaped(asItIs);
    return [asItIs, once, unescaped(once)];
  });
  // Most texts have no escapes: then one reading is enough.
  return [...new Map(readings.map((reading) => [reading.text, reading])).values()].map((reading) =>
    squeezed({ ...reading, text: inSmallLetters(reading.text) }),
  );
}

/** Changes only ASCII letters, as values consist of ASCII: the text keeps its length. */
const inSmallLetters = (text: string) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

function squeezed({ text, starts, ends }: Reading): Reading {
  const reading = { starts: [] as number[], ends: [] as number[] };
  let at = 0;
  const keep = (to: number) => {
    for (; at < to; at += 1) {
      reading.starts.push(starts[at] ?? 0);
      reading.ends.push(ends[at] ?? 0);
    }
  };
  const seen = text.replace(UNSEEN, (hidden, from: number) => {
    keep(from);
    at = from + hidden.length;
    return '';
  });
  keep(text.length);
  return { text: seen, ...reading };
}

function unescaped(original: Reading): Reading {
  const { text, starts, ends } = original;
  if (!/[%\\&]/.test(text)) return original;
  // An escape that is cut off is dropped; a match at the end of the text is masked to its end anyway.
  const whole = text.replace(CUT_ESCAPE, '');
  let read = '';
  const reading = { starts: [] as number[], ends: [] as number[] };
  const copy = (from: number, to: number) => {
    read += whole.slice(from, to);
    reading.starts.push(...starts.slice(from, to));
    reading.ends.push(...ends.slice(from, to));
  };
  let at = 0;
  for (const found of whole.matchAll(ESCAPE)) {
    copy(at, found.index);
    at = found.index + found[0].length;
    const characters = charactersOf(found);
    read += characters;
    for (let each = 0; each < characters.length; each += 1) {
      reading.starts.push(starts[found.index] ?? 0);
      reading.ends.push(ends[at - 1] ?? 0);
    }
  }
  copy(at, whole.length);
  return { text: read, ...reading };
}

function charactersOf([, utf8, url, u, braced, x, quoted, white, entity]: RegExpExecArray): string {
  if (utf8 !== undefined) return Buffer.from(utf8.replaceAll('%', ''), 'hex').toString();
  const code = Number.parseInt(url ?? u ?? braced ?? x ?? '', 16);
  if (!Number.isNaN(code)) return code <= 0x10ffff ? String.fromCodePoint(code) : '';
  if (white !== undefined) return WHITE[white.toLowerCase()] ?? '';
  return quoted ?? decodeHTML(entity ?? '');
}

/** The places of a secret in the original text, including a beginning of it at the end of the text. */
function* placesOf(
  { text, starts, ends }: Reading,
  secret: string,
  original: string,
): Generator<readonly [number, number]> {
  const { length } = secret;
  for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + length)) {
    const [from, to] = [starts[at] ?? 0, ends[at + length - 1] ?? 0];
    const alone = length >= MIN_PART_LENGTH || !(isWord(original[from - 1]) || isWord(original[to]));
    if (alone) yield [from, at + length === text.length ? original.length : to];
  }
  for (let cut = Math.min(length - 1, text.length); cut >= MIN_PART_LENGTH; cut -= 1) {
    if (!text.endsWith(secret.slice(0, cut))) continue;
    yield [starts[text.length - cut] ?? 0, original.length];
    return;
  }
}

const isWord = (character: string | undefined) => character !== undefined && /\w/.test(character);
