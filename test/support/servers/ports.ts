/** Ports that are known in advance, or used again. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { until } from '../until.ts';

/**
 * Below the ports that systems assign themselves (Linux from 32768, macOS from 49152). So nobody else takes a port
 * between its choice and its use, or while its server is unavailable, and no connection to an unused port connects
 * to itself.
 */
const [LOWEST, HIGHEST] = [20_000, 32_000];

/** Whether no server listens on it. */
function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** A TCP port on 127.0.0.1 that is free now and that the system assigns to no one else. */
export async function freePort(): Promise<number> {
  for (let tries = 1; tries <= 100; tries += 1) {
    const port = randomInt(LOWEST, HIGHEST);
    if (await isFree(port)) return port;
  }
  throw new Error(`No port from ${LOWEST} to ${HIGHEST} is free.`);
}

/** Until a program accepts connections at its port on this machine. @throws Error after `timeoutMs` */
export async function untilAccepts(program: string, port: number, timeoutMs?: number): Promise<void> {
  const accepts = async () => {
    const socket = connect(port, '127.0.0.1');
    const open = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    return open;
  };
  await until(program, accepts, timeoutMs);
}

/** Lets a server listen on this machine; answers its port. @param port 0: any that is free */
export async function listenLocally(server: Server, port = 0, host = '127.0.0.1'): Promise<number> {
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return address.port;
}
