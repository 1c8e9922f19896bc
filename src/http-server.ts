/**
 * The API's HTTP server.
 * @module
 */
import type { Server } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import { createAdaptorServer } from '@hono/node-server';

/** A listening server. */
export interface HttpServer {
  /** `http://host:port` */
  readonly url: string;
  /** Takes no more requests; those under way are answered. */
  close(): Promise<void>;
}

/** How long requests under way may take once the server is being stopped, in milliseconds. */
const DRAIN_MS = 10_000;

/**
 * How long a request may take to arrive whole, in milliseconds: Node's five minutes would cut a long import off. Its
 * head has Node's 60 seconds.
 */
const REQUEST_MS = 60 * 60 * 1000;

/**
 * @throws Error with one sentence when the port is taken
 */
export async function listen(
  app: { fetch(request: Request, env: HttpBindings): Response | Promise<Response> },
  host: string,
  port: number,
): Promise<HttpServer> {
  const server = createAdaptorServer({
    fetch: (request, env) => app.fetch(request, env as HttpBindings),
    serverOptions: { requestTimeout: REQUEST_MS },
  }) as Server;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new Error(`PORT ${port} on ${host} is in use: choose another one, or 0 for any free one.`)
          : error,
      ),
    );
    server.listen(port, host, resolve);
  });
  const address = server.address();
  const actual = address !== null && typeof address === 'object' ? address.port : port;
  const shown = host.includes(':') ? `[${host}]` : host;
  return {
    url: `http://${shown}:${actual}`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
      await closed;
      clearTimeout(timer);
    },
  };
}
