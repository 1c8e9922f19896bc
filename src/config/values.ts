/** The kinds of values that a variable may have. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import * as v from 'valibot';

function decodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 24 * 3_600_000 } as const;
/** The longest timer that Node.js supports, in milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

function milliseconds(text: string): number {
  const unit = text.endsWith('ms') ? 'ms' : (text.slice(-1) as Exclude<keyof typeof UNITS, 'ms'>);
  return Math.round(Number.parseFloat(text) * UNITS[unit]);
}

/** `250ms`, `15s`, `30m`, `48h` → milliseconds. */
export const duration = v.pipe(
  v.string(),
  v.regex(/^\d+(\.\d+)?(ms|s|m|h)$/, 'must be a duration such as 250ms, 15s or 48h'),
  v.transform(milliseconds),
  v.minValue(1, 'must be at least 1ms'),
  v.maxValue(MAX_TIMER_MS, 'must be at most 596h'),
);

/** How long something is kept: `30d`, `720h` → milliseconds. Not used for timers, so it may be long. */
export const period = v.pipe(
  v.string(),
  v.regex(/^\d+(\.\d+)?(s|m|h|d)$/, 'must be a period such as 30d or 36h'),
  v.transform(milliseconds),
  v.minValue(UNITS.h, 'must be at least 1h'),
  v.maxValue(3_650 * UNITS.d, 'must be at most 3650d'),
);

/** @param what for the message: "an integer from 1 to 9" */
export function number(check: (value: number) => boolean, what: string) {
  return v.pipe(
    v.string(),
    v.check((text) => /^\d+(\.\d+)?$/.test(text) && check(Number(text)), `must be ${what}`),
    v.transform(Number),
  );
}
/** An integer within bounds, both included. */
export const integer = (from: number, to: number) =>
  number(
    (value) => Number.isInteger(value) && value >= from && value <= to,
    `an integer from ${from} to ${to}`,
  );
/** One of these words. */
export const oneOf = <const Word extends string>(...words: Word[]) =>
  v.picklist(words, `must be ${words.slice(0, -1).join(', ')} or ${words.at(-1)}`);
/** `true` or `false`. */
export const flag = v.pipe(
  oneOf('true', 'false'),
  v.transform((text) => text === 'true'),
);
/** A URL with one of these protocols, such as `smtp:`. */
export const url = (protocols: readonly string[]) =>
  v.pipe(
    v.string(),
    v.check(
      (text) => URL.canParse(text) && protocols.includes(new URL(text).protocol),
      `must be a URL beginning with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
    ),
  );
/** A proxy: credentials are percent-encoded. */
export const proxyUrl = v.pipe(
  url(['http:', 'https:']),
  v.check((text) => {
    const { pathname, search, hash, username, password } = new URL(text);
    return pathname + search + hash === '/' && decodable(username) && decodable(password);
  }, 'must be http:// or https:// with a host, and nothing after it; credentials are percent-encoded'),
);
/** An address to which paths are appended, as a browser writes it, without a trailing slash. */
export const baseUrl = v.pipe(
  url(['http:', 'https:']),
  v.check((text) => {
    const { username, password } = new URL(text);
    return username + password === '' && !/[?#]/.test(text);
  }, 'must be a URL without a user, a query and a fragment'),
  v.transform((text) => new URL(text).href.replace(/\/+$/, '')),
);
/** `host:port`, with IPv6 addresses in brackets. */
export const hostAndPort = v.pipe(
  v.string(),
  v.regex(/^[^\s:/]+:\d{1,5}$|^\[[0-9a-f:]+\]:\d{1,5}$/i, 'must be host:port'),
);
const cidr = v.pipe(
  v.string(),
  // On its own the library also accepts `10/8`.
  v.check(
    (text) => isIP(text.replace(/\/.*$/, '')) !== 0 && ipaddr.isValidCIDR(text),
    'must be address ranges such as 10.0.0.0/8, separated by commas',
  ),
);
const list = v.pipe(
  v.string(),
  v.transform((text) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  ),
);
export const cidrs = v.pipe(list, v.array(cidr));
/** Addresses with or without a port, separated by commas. */
export const nameServers = v.pipe(
  list,
  v.array(
    v.pipe(
      v.string(),
      v.check((text) => {
        const [, bracketed, port] = /^(?:\[(.+)\]|[^:]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
        const address = bracketed ?? (isIP(text) === 6 ? text : text.replace(/:\d+$/, ''));
        return isIP(address) !== 0 && Number(port ?? 53) <= 65_535;
      }, 'must be addresses such as 192.0.2.53 or [2001:db8::53]:5353, separated by commas'),
    ),
  ),
);
/** 32 bytes in base64. */
export const key = v.pipe(
  v.string(),
  v.check(
    (text) => /^[A-Za-z0-9+/_-]{43}=?$/.test(text) && Buffer.from(text, 'base64').length === 32,
    'must be 32 bytes in base64, e.g. the output of: openssl rand -base64 32',
  ),
  v.transform((text) => Buffer.from(text, 'base64')),
);
/** Several keys, separated by commas. */
export const keyList = v.pipe(list, v.array(key));
export const text = v.pipe(v.string(), v.minLength(1, 'must not be empty'));
/** One mail address, bare or in angle brackets after a name. */
export const mailbox = v.pipe(
  v.string(),
  v.regex(
    /^\s*(?:[^\s<>@,]+@[^\s<>@,]+|[^<>\r\n]*<[^\s<>@,]+@[^\s<>@,]+>)\s*$/,
    'must be an address such as orders@shop.example or Shop <orders@shop.example>',
  ),
);
