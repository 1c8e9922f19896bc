/** A request as a command that repeats it. */
import type { SignedRequest } from '../deps.ts';

/** Any text as one word of a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The command, with one header per line. Brackets in an address are taken literally, not as a range. */
export function curlOf({ method, url, headers, body }: SignedRequest): string {
  const lines = [
    `curl --globoff --request ${method} ${quoted(url)}`,
    ...Object.entries(headers).map(([name, value]) => `--header ${quoted(`${name}: ${value}`)}`),
    ...(body === null ? [] : [`--data-raw ${quoted(body)}`]),
  ];
  return lines.join(' \\\n  ');
}
