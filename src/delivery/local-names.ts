/** Names that need no name server: `localhost` and `invalid` (RFC 6761), and those in the hosts file. */
import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { watchedFile } from './watched-file.ts';

const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * Knows local names.
 * @param path the hosts file, read again when it changes
 * @returns the addresses of a name in lower case, `[]` if it can have none; undefined: ask a name server
 */
export function localNames(path = '/etc/hosts'): (name: string) => readonly LookupAddress[] | undefined {
  const hosts = watchedFile(path, parseHosts);
  return (name) => {
    if (name === 'localhost' || name.endsWith('.localhost')) return LOOPBACK;
    if (name === 'invalid' || name.endsWith('.invalid')) return [];
    return hosts().get(name);
  };
}

/** The names of a hosts file with their addresses, in the order of its lines. */
function parseHosts(text: string): ReadonlyMap<string, readonly LookupAddress[]> {
  const hosts = new Map<string, LookupAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of names.map((each) => each.toLowerCase())) {
      const addresses = hosts.get(name);
      if (addresses === undefined) hosts.set(name, [{ address, family }]);
      else addresses.push({ address, family });
    }
  }
  return hosts;
}
