/** Ports for what is to be where somebody looks for it, later or again. */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below what systems give to whoever names no port: Linux from 32768, macOS from 49152. So neither a server of another
 * test nor the near end of any connection comes there between the choice of a port and its use, or while a server that
 * was there is away. Nor does a connection to a port where nobody listens lead back to itself.
 */
const [LOWEST, HIGHEST] = [20_000, 32_000];

/** Whether nobody listens on it. */
function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** A TCP port on 127.0.0.1 that is free now, and that nobody gets by chance. */
export async function freePort(): Promise<number> {
  for (let tries = 1; tries <= 100; tries += 1) {
    const port = randomInt(LOWEST, HIGHEST);
    if (await isFree(port)) return port;
  }
  throw new Error(`No port from ${LOWEST} to ${HIGHEST} is free.`);
}
