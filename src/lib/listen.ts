/** HTTP servers that are reached from this machine, or serve one command. */
import { once } from 'node:events';
import type { Server } from 'node:http';

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
