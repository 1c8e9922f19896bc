/** Free TCP ports on the loopback address. */
import { createServer } from 'node:net';
import { UserError } from '../lib/user-error.ts';

function listenOnce(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(address !== null && typeof address === 'object' ? address.port : undefined));
    });
  });
}

/**
 * The preferred port if it is free, else any free one.
 * @throws UserError when not even the system finds one
 */
export async function freePort(preferred = 0): Promise<number> {
  const port = (preferred === 0 ? undefined : await listenOnce(preferred)) ?? (await listenOnce(0));
  if (port === undefined) throw new UserError('No free TCP port on 127.0.0.1.');
  return port;
}
