/** Free TCP ports on this machine. */
import { createServer } from 'node:net';
import { UserError } from '../lib/user-error.ts';

function listenOnce(port: number, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, host, () => {
      const address = server.address();
      server.close(() => resolve(address !== null && typeof address === 'object' ? address.port : undefined));
    });
  });
}

/**
 * The preferred port if it is free, else any free one.
 * @throws UserError if the system finds none either
 */
export async function freePort(preferred = 0, host = '127.0.0.1'): Promise<number> {
  if (preferred !== 0) {
    const port = await listenOnce(preferred, host).catch(() => undefined);
    if (port !== undefined) return port;
  }
  const port = await listenOnce(0, host).catch((error: Error) => {
    throw new UserError(`No TCP port can be opened on ${host}: ${error.message}.`);
  });
  if (port === undefined) throw new UserError(`No free TCP port on ${host}.`);
  return port;
}
