/** Proxies on the way out: a small one that does as the test says, and squid and tinyproxy as Debian ships them, if installed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installedProgram } from './installed-program.ts';
import { freePort } from './ports.ts';
import { until } from './until.ts';

export interface HttpProxy {
  /** Without credentials. */
  readonly url: string;
  close(): Promise<void>;
}

export interface OwnProxy extends HttpProxy {
  readonly port: number;
  /** The heads of all requests so far, in order: `CONNECT shop.example:443`, `POST http://shop.example/hook`. */
  readonly heads: readonly string[];
  /** The last request's headers. */
  headers(): IncomingMessage['headers'];
  /** Connections accepted so far. */
  readonly connections: number;
  /** From now on: a status instead of doing it, `hang` or `close` instead of an answer, null: does it. */
  answer(with_: number | 'hang' | 'close' | null): void;
}

interface Options {
  /** The one user, with the password. */
  readonly credentials?: { readonly user: string; readonly password: string };
  /** Makes it an https proxy. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Where it connects to instead of a name. */
  readonly names?: Readonly<Record<string, string>>;
  /** Default: a free one. */
  readonly port?: number;
}

export async function startOwnProxy({
  credentials,
  tls,
  names = {},
  port: own = 0,
}: Options = {}): Promise<OwnProxy> {
  const heads: string[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  let last: IncomingMessage['headers'] = {};
  let wanted: number | 'hang' | 'close' | null = null;
  const authorization =
    credentials && `Basic ${Buffer.from(`${credentials.user}:${credentials.password}`).toString('base64')}`;
  /** What it answers instead of doing it. */
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
  server.listen(own, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${address.port}`,
    port: address.port,
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

/** Debian's proxies, by the program. */
export type InstalledProxy = 'squid' | 'tinyproxy';
export const proxyInstalled = (program: InstalledProxy) => installedProgram(program) !== undefined;

/** With these credentials it asks for them. @param refused a port that it refuses to connect to */
export async function startInstalledProxy(
  program: InstalledProxy,
  { credentials, refused = 9 }: Pick<Options, 'credentials'> & { readonly refused?: number } = {},
): Promise<HttpProxy> {
  const path = installedProgram(program);
  if (path === undefined) throw new Error(`${program} is not installed`);
  const folder = await mkdtemp(join(tmpdir(), `waybill-${program}-`));
  // Started by root, it becomes another user.
  await chmod(folder, 0o777);
  const port = await freePort();
  const config = join(folder, 'proxy.conf');
  const { user, password } = credentials ?? { user: '', password: '' };
  const asks = credentials !== undefined;
  if (program === 'squid') {
    await writeFile(
      join(folder, 'auth.sh'),
      `while read line; do [ "$line" = "${user} ${password}" ] && echo OK || echo ERR; done\n`,
    );
    await writeFile(
      config,
      `http_port 127.0.0.1:${port}
pid_filename ${folder}/pid
cache deny all
access_log none
cache_log ${folder}/log
shutdown_lifetime 1 seconds
acl refused port ${refused}
http_access deny refused
${asks ? `auth_param basic program /bin/sh ${folder}/auth.sh\nacl known proxy_auth REQUIRED\nhttp_access allow known\nhttp_access deny all` : 'http_access allow all'}
`,
    );
  } else {
    await writeFile(
      config,
      `Port ${port}
Listen 127.0.0.1
Timeout 60
LogFile "${folder}/log"
MaxClients 100
${asks ? `BasicAuth ${user} ${password}` : ''}
`,
    );
  }
  const child = spawn(path, program === 'squid' ? ['-N', '-f', config] : ['-d', '-c', config], {
    stdio: 'ignore',
    cwd: folder,
  });
  const exited = once(child, 'exit');
  await until(program, async () => {
    const socket = connect(port, '127.0.0.1');
    const open = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    return open;
  });
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      child.kill('SIGKILL');
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
