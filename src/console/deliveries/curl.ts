/** A request as a command that makes it once more. */
import type { SignedRequest } from '../deps.ts';

/** As one word of a POSIX shell, whatever is in it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The command, a header per line. Brackets in an address are the address's: they ask for no range of addresses. */
export function curlOf({ method, url, headers, body }: SignedRequest): string {
  const lines = [
    `curl --globoff --request ${method} ${quoted(url)}`,
    ...Object.entries(headers).map(([name, value]) => `--header ${quoted(`${name}: ${value}`)}`),
    ...(body === null ? [] : [`--data-raw ${quoted(body)}`]),
  ];
  return lines.join(' \\\n  ');
}
