/** The URL of a webhook: what it may be, and how it is described. */
import * as v from 'valibot';
import { isLonger, withoutProblem } from './fields.ts';

const MAX_URL_LENGTH = 2048;

/** The problem of a URL to be called, or null. */
export function urlProblem(url: string): string | null {
  if (isLonger(url, MAX_URL_LENGTH)) return `must have at most ${MAX_URL_LENGTH} characters`;
  // The parser is lenient (it trims, drops line ends and corrects slashes), but the stored URL is used unchanged.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  if (/[\s\\\u0000-\u001f\u007f]/u.test(url))
    return 'must not contain spaces, control characters or backslashes';
  const authority = /^https?:\/\/([^/?#]+)/i.exec(url)?.[1];
  if (authority === undefined || !URL.canParse(url)) return 'must be an absolute http: or https: URL';
  if (authority.includes('@')) return 'must not contain a user name or password';
  if (url.includes('#')) return 'must not contain a fragment';
  if (new URL(url).port === '0') return 'must not have the port 0';
  // The URL shown would differ from the one called, or be understood differently by different servers.
  if (/\/(?:\.|%2e){1,2}(?:[/?]|$)/i.test(url.replace(/\?.*/s, '')))
    return 'must not contain . or .. as a part of its path';
  if (/%(?![\da-f]{2})/i.test(url)) return 'must not contain a % without two hexadecimal digits after it';
  return null;
}

/** A URL to be called, as the OpenAPI document describes it. */
export function urlInDocument(description: string, example: string) {
  const length = { minLength: 1, maxLength: MAX_URL_LENGTH };
  return {
    jsonSchema: { type: 'string', format: 'uri', ...length, description, examples: [example] },
  } as const;
}

export const webhookUrl = v.pipe(
  v.string('must be a string'),
  v.minLength(1, 'must not be empty'),
  withoutProblem((url) => (url === '' ? null : urlProblem(url))),
  v.metadata(
    urlInDocument(
      'An absolute `http:` or `https:` URL without user name, password or fragment, and with a normalized path: no part of it is `.` or `..`, ' +
        'every `%` begins an encoded character. The port is not 0. On GET webhooks the ' +
        'percent-encoded (all but RFC 3986 unreserved) identifier of the record is appended literally to the end of the string: ' +
        'end it with `/` or `?order=` as you need. Private, loopback, link-local, multicast, metadata and other special-purpose ' +
        'destinations are refused when connecting, on every attempt; an address of that kind in the URL itself, or a port of ' +
        'this service, is rejected here (400).',
      'https://shop.example/hooks/orders',
    ),
  ),
);
