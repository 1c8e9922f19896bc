/** Removes static headers from responses: some receivers echo their requests, and responses are kept. */
import { MASK } from '../domain/static-headers.ts';

/** In characters: shorter parts of a value occur by chance in any text. */
const MIN_PART_LENGTH = 6;
/** In characters: a shorter value is no secret, and masking it would make a text unreadable. */
const MIN_VALUE_LENGTH = 3;
/** Names of schemes precede the secret, and occur in many error messages (RFC 9110, 11.1). */
const SCHEME = /^(?:bearer|digest|apikey)$/i;
/** A character as escaped in URLs, JSON and HTML. In URLs one outside ASCII has an escape for each byte. */
const ESCAPE =
  /((?:%[c-f][\da-f])(?:%[89ab][\da-f]){1,3})|%([\da-f]{2})|\\u([\da-f]{4})|&#x([\da-f]{1,4});|&#(\d{1,5});|\\(["\\/])|\\(t)|&(amp|lt|gt|quot|apos);/gi;
/** The beginning of an escape at the end of a text. */
const CUT_ESCAPE = /(?:%[\da-f]?|\\(?:u[\da-f]{0,3})?|&[#\w]{0,5})$/i;
const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Characters that nobody sees, and what control characters were replaced with. A tab may be part of a value. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}\ufffd]|[^\P{Cc}\t]/gu;

/** A text in one of the ways it can be read. */
interface Reading {
  readonly text: string;
  /** Where each of its characters begins in the original text, and where that ends. */
  readonly starts: readonly number[];
}

/**
 * Masks in a response the values of the static headers of its request, and the words in them: as they are, as escaped in URLs, JSON or
 * HTML, and values in Base64; each in capitals or small letters, and with invisible characters in between.
 * @returns a function of a text, whose end may have been cut off
 */
export function withoutEchoes(headers: Readonly<Record<string, string>>): (text: string) => string {
  const values = Object.values(headers).filter(({ length }) => length >= MIN_VALUE_LENGTH);
  const parts = values
    .flatMap((value) => [...value.split(/\s+/).filter((word) => !SCHEME.test(word)), ...inBase64(value)])
    .filter(({ length }) => length >= MIN_PART_LENGTH);
  const secrets = [...new Set([...values, ...parts].map(inSmallLetters))];
  if (secrets.length === 0) return (text) => text;
  return (text) => {
    const echoed = new Uint8Array(text.length);
    for (const reading of readingsOf(text))
      for (const secret of secrets)
        for (const [from, to] of placesOf(reading.text, secret))
          echoed.fill(1, reading.starts[from], reading.starts[to]);
    let shown = '';
    for (let at = 0; at < text.length; at += 1) {
      if (echoed[at] === 0) shown += text[at];
      else if (at === 0 || echoed[at - 1] === 0) shown += MASK;
    }
    return shown;
  };
}

/** Letters of ASCII alone, of which values consist: the text keeps its length. */
const inSmallLetters = (text: string) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** With and without padding, in both alphabets (RFC 4648, 4 and 5). */
function inBase64(value: string): string[] {
  const bytes = Buffer.from(value);
  const padded = bytes.toString('base64');
  return [padded, padded.replace(/=+$/, ''), bytes.toString('base64url')];
}

/**
 * As it is, and with its escapes read, even nested ones; each also with plus signs as spaces, as in forms, and without what is
 * invisible. All in small letters.
 */
function readingsOf(text: string): Reading[] {
  const starts = Array.from({ length: text.length + 1 }, (_, at) => at);
  const readings = [...new Set([text, text.replaceAll('+', ' ')])].flatMap((each) => {
    const asItIs = { text: each, starts };
    const once = unescaped(asItIs);
    return [asItIs, once, unescaped(once)].flatMap((reading) => {
      const inSmall = { ...reading, text: inSmallLetters(reading.text) };
      return [inSmall, visible(inSmall)];
    });
  });
  // Most texts have no escapes: then one reading is enough.
  return readings.filter((reading, index) => reading.text !== readings[index - 1]?.text);
}

function visible({ text, starts }: Reading): Reading {
  const begins: number[] = [];
  let at = 0;
  const read = text.replace(INVISIBLE, (hidden, from: number) => {
    begins.push(...starts.slice(at, from));
    at = from + hidden.length;
    return '';
  });
  return { text: read, starts: [...begins, ...starts.slice(at)] };
}

function unescaped({ text, starts }: Reading): Reading {
  // An escape that is cut off is dropped, and counts as part of the character before it.
  const whole = text.replace(CUT_ESCAPE, '');
  let read = '';
  const begins: number[] = [];
  /** @param step 0: all of them begin where an escape does */
  const add = (characters: string, at: number, step: 0 | 1) => {
    for (let each = 0; each < characters.length; each += 1) begins.push(starts[at + each * step] ?? 0);
    read += characters;
  };
  let at = 0;
  for (const found of whole.matchAll(ESCAPE)) {
    add(whole.slice(at, found.index), at, 1);
    add(characterOf(found), found.index, 0);
    at = found.index + found[0].length;
  }
  add(whole.slice(at), at, 1);
  return { text: read, starts: [...begins, starts.at(-1) ?? 0] };
}

function characterOf([, utf8, url, json, hex, decimal, quoted, tab, named]: RegExpExecArray): string {
  if (utf8 !== undefined) return Buffer.from(utf8.replaceAll('%', ''), 'hex').toString();
  const code = url ?? json ?? hex;
  if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
  if (decimal !== undefined) return String.fromCharCode(Number(decimal));
  if (tab !== undefined) return '\t';
  return quoted ?? NAMED[named?.toLowerCase() ?? ''] ?? '';
}

/** The places of a secret in a text, including a beginning of it at the end of the text. */
function* placesOf(text: string, secret: string): Generator<readonly [number, number]> {
  const { length } = secret;
  for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + length)) {
    const alone = length >= MIN_PART_LENGTH || !(isWord(text[at - 1]) || isWord(text[at + length]));
    if (alone) yield [at, at + length];
  }
  for (let cut = Math.min(length - 1, text.length); cut >= MIN_PART_LENGTH; cut -= 1) {
    if (!text.endsWith(secret.slice(0, cut))) continue;
    yield [text.length - cut, text.length];
    return;
  }
}

const isWord = (character: string | undefined) => character !== undefined && /\w/.test(character);
