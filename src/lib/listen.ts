/** HTTP servers that are reached from this machine, or serve one command; and whether one could listen. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import { createServer } from 'node:net';

/** Listens for a moment. @param port 0: any free one @returns the port @throws the error if it cannot listen there */
export async function tryPort(port: number, host: string): Promise<number> {
  const server = createServer((socket) => socket.destroy()).listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return address !== null && typeof address === 'object' ? address.port : port;
}

/**
 * Listens at an address.
 * @param port 0: any free one
 * @returns the port, and a function that ends the server with all its connections
 * @throws the server's error, for example if the port is taken
 */
export async function listen(server: Server, port: number, host = '127.0.0.1') {
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  return {
    port: address !== null && typeof address === 'object' ? address.port : port,
    async close(): Promise<void> {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
