/** A small outbound proxy that behaves as the test says. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, type Socket } from 'node:net';
import { listenLocally } from './ports.ts';

export interface HttpProxy {
  /** Its URL without credentials. */
  readonly url: string;
  readonly port: number;
  /** The heads of all requests so far, in order: `CONNECT shop.example:443`, `POST http://shop.example/hook`. */
  readonly heads: readonly string[];
  /** The last request's headers. */
  headers(): IncomingMessage['headers'];
  /** Connections accepted so far. */
  readonly connections: number;
  /** From now on: answers with this status, or hangs or closes instead of answering; null: forwards again. */
  answer(with_: number | 'hang' | 'close' | null): void;
  close(): Promise<void>;
}

interface Options {
  /** The one user, with the password. */
  readonly credentials?: { readonly user: string; readonly password: string };
  /** Makes it an https proxy. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** The host that it connects to in place of a name. */
  readonly names?: Readonly<Record<string, string>>;
  /** Default: a free one. */
  readonly port?: number;
}

export async function startHttpProxy({
  credentials,
  tls,
  names = {},
  port: own = 0,
}: Options = {}): Promise<HttpProxy> {
  const heads: string[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  let last: IncomingMessage['headers'] = {};
  let wanted: number | 'hang' | 'close' | null = null;
  const authorization =
    credentials && `Basic ${Buffer.from(`${credentials.user}:${credentials.password}`).toString('base64')}`;
  /** Its answer instead of forwarding. */
  function instead({ method, url, headers }: IncomingMessage): typeof wanted {
    heads.push(`${method} ${url}`);
    last = headers;
    if (authorization !== undefined && headers['proxy-authorization'] !== authorization) return 407;
    return wanted;
  }
  const place = (hostname: string) => names[hostname] ?? hostname.replace(/^\[(.*)\]$/, '$1');

  const server: Server = tls === undefined ? createServer() : createTlsServer(tls);
  server.on('request', (asked, answer) => {
    const status = instead(asked);
    if (status === 'close') return asked.socket.destroy();
    if (status === 'hang') return;
    if (status !== null) return answer.writeHead(status).end('<h1>the proxy</h1>');
    const { hostname, port, pathname, search } = new URL(asked.url ?? '');
    const { 'proxy-authorization': _, ...headers } = asked.headers;
    const onward = request(
      { host: place(hostname), port: port || 80, method: asked.method, path: pathname + search, headers },
      (got) => got.pipe(answer.writeHead(got.statusCode ?? 502, got.headers)),
    );
    onward.on('error', () => answer.writeHead(503).end());
    asked.pipe(onward);
  });
  server.on('connect', (asked: IncomingMessage, socket: Socket) => {
    const status = instead(asked);
    if (status === 'close') return socket.destroy();
    if (status === 'hang') return;
    if (status !== null) return socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 3\r\n\r\nno\n`);
    const { hostname, port } = new URL(`http://${asked.url}`);
    const onward = connect(Number(port || 80), place(hostname));
    onward.once('connect', () => {
      there = true;
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    let there = false;
    onward.on('error', () => {
      if (there) socket.destroy();
      else socket.end('HTTP/1.1 503 No\r\n\r\n');
    });
    socket.on('error', () => onward.destroy());
    socket.on('close', () => onward.destroy());
  });
  server.on('connection', (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => {});
  });
  const port = await listenLocally(server, own);
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    heads,
    headers: () => last,
    get connections() {
      return connections;
    },
    answer(with_) {
      wanted = with_;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
