/**
 * Headers that an e-shop adds to every attempt, for a gateway in front of its receiver (docs/interface.md, W16).
 * Values are secrets.
 */
import * as v from 'valibot';
import { described } from './fields.ts';
import { type FieldProblem, invalid } from './problem.ts';

/** Names and values, as the e-shop writes them. Names are compared without case. */
export type StaticHeaders = Readonly<Record<string, string>>;

/** Shown in place of every value; sent in a PUT, it keeps the stored value. */
export const MASK = '•••';

const MAX_HEADERS = 16;
/** For all names and values together. */
const MAX_BYTES = 4096;

/** RFC 9110, 5.6.2. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/**
 * RFC 9110, 5.5, without `obs-text`, whose encoding is undefined. Leading and trailing spaces and tabs are not part
 * of a value.
 */
const VALUE = /^(?:[!-~](?:[\t -~]*[!-~])?)?$/;

/** Headers that every sender sets for a connection or message (RFC 9110, 7.6.1), and their predecessors. */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
/** Headers that Waybill sets. */
const RESERVED = /^(?:content-|user-agent$|webhook-|x-service-)/;

function nameProblem(name: string): string | null {
  if (!NAME.test(name)) return 'is not the name of a header';
  const known = name.toLowerCase();
  if (OF_THE_CONNECTION.has(known)) return 'belongs to the connection and cannot be set';
  return RESERVED.test(known) ? 'is set by the service' : null;
}

function valueProblem(value: string, masks: boolean): string | null {
  if (VALUE.test(value)) return null;
  if (value === MASK)
    return masks ? null : 'there is no stored value that the mask could stand for: send one';
  return 'may contain only visible ASCII characters, with spaces and tabs between them';
}

function sizeProblem(headers: StaticHeaders): string | null {
  const bytes = Object.entries(headers).reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value),
    0,
  );
  return bytes > MAX_BYTES ? `must be at most ${MAX_BYTES} bytes long, names and values together` : null;
}

/**
 * In a request: null or empty for none.
 * @param masks whether a mask is allowed: not for a new webhook, as no value is stored
 */
export function staticHeaders(masks: boolean) {
  return v.pipe(
    // For valibot a list is a record with numbers as keys.
    v.custom<StaticHeaders>((input) => !Array.isArray(input), 'must be an object'),
    // This metadata describes the request; after the next schema it would not.
    v.metadata({
      jsonSchema: {
        type: 'object',
        maxProperties: MAX_HEADERS,
        propertyNames: { pattern: NAME.source, minLength: 1 },
        additionalProperties: {
          type: 'string',
          maxLength: MAX_BYTES,
          pattern: masks ? `${VALUE.source}|^${MASK}$` : VALUE.source,
        },
        description:
          `Static headers of every attempt and test, name to value, for a receiver behind a gateway: up to ${MAX_HEADERS}, ${MAX_BYTES} bytes in ` +
          `all. Values are secrets: they are stored encrypted and shown as \`${MASK}\`. In a PUT: left out, they stay; null or \`{}\` removes ` +
          `them; \`${MASK}\` keeps the value stored under the name; if the URL leads to another scheme, host or port, ` +
          'every value must be sent again. Names are case-insensitive. Not allowed: headers of the connection and of framing, `Host`, `Content-*`, ' +
          '`User-Agent`, `webhook-*`, `X-Service-*`, and bytes that RFC 9110 forbids.',
        examples: [{ 'X-Gateway-Key': 'a key of the gateway' }],
      },
    }),
    v.record(v.string(), v.string('must be a string'), 'must be an object'),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      const input = dataset.value;
      const at = (key: string, message: string) =>
        addIssue({ message, path: [{ type: 'object', origin: 'key', input, key, value: null }] });
      const entries = Object.entries(input);
      if (entries.length > MAX_HEADERS) return addIssue({ message: `must be at most ${MAX_HEADERS}` });
      const tooLong = sizeProblem(input);
      if (tooLong !== null) return addIssue({ message: tooLong });
      const known = new Set<string>();
      for (const [name, value] of entries) {
        const problem = nameProblem(name) ?? valueProblem(value, masks);
        if (problem !== null) at(name, problem);
        else if (known.has(name.toLowerCase())) at(name, 'is there twice');
        known.add(name.toLowerCase());
      }
    }),
  );
}

/** As shown in the record. */
export const maskedHeadersField = v.nullable(
  described(
    v.record(v.string(), v.literal(MASK)),
    `The static headers of every attempt, each value as \`${MASK}\`; null without any.`,
  ),
);

/** A mask for each of these names. */
export function masked(names: readonly string[]): Record<string, typeof MASK> {
  return Object.fromEntries(names.map((name) => [name, MASK]));
}

/** Null instead of an empty object. */
export function headersOrNull(sent: StaticHeaders | null | undefined): StaticHeaders | null {
  return sent === null || sent === undefined || Object.keys(sent).length === 0 ? null : sent;
}

/**
 * The static headers of a replaced webhook.
 * @param sent undefined if left out
 * @param stored `open` opens its static headers; null if it has none
 * @returns undefined if they stay as they are
 * @throws Problem 400
 */
export function replacedHeaders(
  sent: StaticHeaders | null | undefined,
  url: string,
  stored: { readonly url: string; readonly open: (() => StaticHeaders) | null },
): StaticHeaders | null | undefined {
  const moved = new URL(url).origin !== new URL(stored.url).origin;
  if (sent === undefined) {
    if (stored.open === null || !moved) return undefined;
    const message =
      'the URL leads to another scheme, host or port: send every value again, or null to remove the headers';
    throw invalid([{ path: 'headers', message }]);
  }
  if (sent === null) return null;
  const kept = new Map<string, string>();
  if (!moved && Object.values(sent).includes(MASK)) {
    for (const [name, value] of Object.entries(stored.open?.() ?? {})) kept.set(name.toLowerCase(), value);
  }
  const lacking = moved
    ? 'the URL leads to another scheme, host or port: send this value again'
    : 'no value is stored under this name: send one';
  const headers: Record<string, string> = {};
  const problems: FieldProblem[] = [];
  for (const [name, value] of Object.entries(sent)) {
    const after = value === MASK ? kept.get(name.toLowerCase()) : value;
    if (after === undefined) problems.push({ path: `headers.${name}`, message: lacking });
    else headers[name] = after;
  }
  const tooLong = sizeProblem(headers);
  if (problems.length === 0 && tooLong !== null) problems.push({ path: 'headers', message: tooLong });
  if (problems.length > 0) throw invalid(problems);
  return headersOrNull(headers);
}
