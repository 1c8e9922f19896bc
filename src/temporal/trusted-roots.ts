/** Whom Temporal's certificate is checked against where nothing else is configured. */
import { readFile } from 'node:fs/promises';
import { rootCertificates } from 'node:tls';

/**
 * Node's authorities and those of `NODE_EXTRA_CA_CERTS`, as one file in PEM. Temporal's core would ask the system, which in an
 * image without `ca-certificates` knows none, while all other connections are checked against these.
 */
export async function trustedRoots(extraFile = process.env.NODE_EXTRA_CA_CERTS): Promise<Buffer> {
  // One that cannot be read is no reason to fail: Node has warned of it.
  const extra = extraFile ? await readFile(extraFile, 'utf8').catch(() => '') : '';
  return Buffer.from([...rootCertificates, extra].join('\n'));
}
