/** Free TCP ports on this machine. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { UserError } from '../lib/user-error.ts';

async function listenOnce(port: number, host: string): Promise<number> {
  const server = createServer().listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return address !== null && typeof address === 'object' ? address.port : port;
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
  return await listenOnce(0, host).catch((error: Error) => {
    throw new UserError(`No TCP port can be opened on ${host}: ${error.message}.`);
  });
}
