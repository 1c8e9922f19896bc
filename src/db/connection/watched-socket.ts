/**
 * Connections to Postgres that notice when the network falls silent. The client library waits as long as the
 * connection is open, which may be forever when packets vanish, so the socket destroys itself when an answer is
 * overdue. Idle connections that were silent for as long go too, or each would cost a query another deadline.
 */
import { once } from 'node:events';
import { connect as connectTcp, isIP, Socket, type TcpNetConnectOpts } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { READ_ONLY_TRANSACTION } from '../sqlstate.ts';
import { createPendingReplies, type SessionEvent } from './pending-replies.ts';
import type { TlsMode } from './tls-mode.ts';

interface SocketTarget {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsMode;
}

/** Time limits, in milliseconds. */
export interface SocketDeadlines {
  /** For opening a connection, TCP and TLS. */
  readonly connectMs: number;
  /** Without a byte from the server while a reply is outstanding; null: no limit. */
  readonly silenceMs: number | null;
}

/** No byte came while a reply was outstanding. */
class DatabaseSilent extends Error {
  override readonly name = 'DatabaseSilent';
  /** In the style of the library's own codes for lost connections. */
  readonly code = 'CONNECTION_SILENT';
}

/** The server, or a proxy in front of it, accepted a connection and closed it. */
class DatabaseClosed extends Error {
  override readonly name = 'DatabaseClosed';
  readonly code = 'CONNECTION_CLOSED';
}

/** The server is read-only: it is a standby, or a former primary that has become one. */
class DatabaseReadOnly extends Error {
  override readonly name = 'DatabaseReadOnly';
  readonly code = 'CONNECTION_READ_ONLY';
}

/** Parameters by which a server reports a session that cannot write (Postgres 14 and later). */
const READ_ONLY_PARAMETERS = ['in_hot_standby', 'default_transaction_read_only'];

/** The connections of a pool: a failure noticed by one also closes idle others. */
export class SocketGroup {
  readonly #members = new Map<Socket, Member>();
  /** Called with the SQLSTATE of each failed statement or start of a session. */
  onError: (code: string) => void = () => {};

  /** Includes a connection until it is closed. */
  add(socket: Socket, member: Member): void {
    this.#members.set(socket, member);
    socket.once('close', () => this.#members.delete(socket));
  }

  /** The server processes that the connections were given, as named by the server or by a pooler in front of it. */
  get backendPids(): readonly number[] {
    return [...this.#members.values()].flatMap(({ backendPid }) => backendPid ?? []);
  }

  use(): { readonly open: number; readonly busy: number } {
    const members = [...this.#members.values()];
    return { open: members.length, busy: members.filter((member) => !member.isIdle()).length };
  }

  /** Closes the idle connections on which nothing has arrived for this long, in milliseconds. */
  async dropIdle(silentForMs: number): Promise<void> {
    const before = performance.now() - silentForMs;
    const dropped = [...this.#members].filter(
      ([socket, member]) => !socket.destroyed && member.isIdle() && member.heardAt <= before,
    );
    await Promise.all(dropped.map(([socket]) => once(socket.destroy(), 'close')));
  }
}

interface Member {
  /** When something last arrived, by the process's monotonic clock. */
  heardAt: number;
  backendPid?: number;
  /** Whether no reply is outstanding. */
  isIdle(): boolean;
}

/** The time before the first keep-alive probe on an idle connection; then the system gives up within seconds. */
const KEEP_ALIVE_MS = 10_000;
/**
 * How long the server may take to close its end of a connection after Waybill has closed its own, in milliseconds.
 * Too low: a busy server is cut off before it has closed. Too high: the connection of a dead server stays that much
 * longer.
 */
const CLOSE_TIMEOUT_MS = 2_000;
/** The SSLRequest message of the protocol. The server answers with one byte: `S` if it supports TLS. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

/**
 * Opens a connection. It never throws: a failure is a socket that emits `error` and `close`, from which the library
 * recovers, unlike from a rejected promise.
 */
export async function openSocket(target: SocketTarget, deadlines: SocketDeadlines, group: SocketGroup) {
  const connectTimeout = AbortSignal.timeout(deadlines.connectMs);
  const options: TcpNetConnectOpts = {
    host: target.host,
    port: target.port,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_MS,
  };
  const raw = connectTcp(options);
  // Code that awaits an event of the socket gets its failure; a later failure must not end the process.
  raw.on('error', () => {});
  try {
    const socket = await secured(raw, target, connectTimeout);
    watch(socket, deadlines.silenceMs, group);
    return socket;
  } catch (error) {
    raw.destroy();
    const cause = connectTimeout.aborted
      ? new DatabaseSilent(`The database has not accepted a connection for ${deadlines.connectMs / 1000} s.`)
      : error;
    return failing(cause instanceof Error ? cause : new Error(String(cause)));
  }
}

/** The connected socket, with TLS if the address asks for it. */
async function secured(raw: Socket, { host, tls }: SocketTarget, signal: AbortSignal): Promise<Socket> {
  await once(raw, 'connect', { signal });
  if (tls.mode === 'off') return raw;
  if (tls.mode !== 'direct') {
    raw.write(SSL_REQUEST);
    const [answer]: unknown[] = await Promise.race([once(raw, 'data', { signal }), closed(raw)]);
    // More than one byte would be data injected ahead of the encryption.
    const yes = answer instanceof Buffer && answer.length === 1 && answer[0] === 'S'.charCodeAt(0);
    if (!yes && tls.mode === 'preferred') return raw;
    if (!yes) throw new Error('The database does not support TLS, which its URL requires.');
  }
  const socket = connectTls({
    socket: raw,
    rejectUnauthorized: tls.verified,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(tls.mode === 'direct' ? { ALPNProtocols: ['postgresql'] } : {}),
  });
  // `once` gets the failure; a later one must not end the process.
  socket.on('error', () => {});
  await once(socket, 'secureConnect', { signal });
  return socket;
}

/** @throws Error once the server has closed the connection */
async function closed(socket: Socket): Promise<never> {
  await new Promise((resolve) => socket.once('close', resolve));
  throw new DatabaseClosed('The database has closed the connection.');
}

/** Destroys a socket whose server is silent while a reply is outstanding, or accepts no writes. */
function watch(socket: Socket, silenceMs: number | null, group: SocketGroup): void {
  const pending = createPendingReplies(onEvent);
  const member: Member = { heardAt: performance.now(), isIdle: () => !pending.any };
  let refused = false;
  let timer: NodeJS.Timeout | undefined;
  const giveUp = async (ms: number) => {
    // The idle ones first, so that a query retried after this failure gets a new connection.
    if (!socket.writableEnded) await group.dropIdle(ms);
    socket.destroy(new DatabaseSilent(`The database has not answered for ${ms / 1000} s.`));
  };
  const wait = (ms: number) => {
    timer ??= setTimeout(() => void giveUp(ms), ms);
  };
  const stopWaiting = () => {
    clearTimeout(timer);
    timer = undefined;
  };

  function onEvent(event: SessionEvent): void {
    if (event.kind === 'backend') member.backendPid = event.pid;
    const readOnly =
      event.kind === 'parameter' && READ_ONLY_PARAMETERS.includes(event.name) && event.value === 'on';
    if (readOnly) socket.destroy(new DatabaseReadOnly('The database is read-only: it may be a standby.'));
    if (event.kind === 'error' && event.code === READ_ONLY_TRANSACTION) refused = true;
    if (event.kind === 'error') group.onError(event.code);
    // The library now has the error and has left its transaction. The other connections lead to the same server.
    if (event.kind === 'ready' && !event.inTransaction && refused) {
      setImmediate(() => {
        socket.destroy(new DatabaseReadOnly('The database no longer accepts writes.'));
        void group.dropIdle(0);
      });
    }
  }

  group.add(socket, member);
  interceptWrites(socket, (piece) => {
    pending.sent(piece);
    if (silenceMs !== null && pending.any) wait(silenceMs);
  });
  socket.on('data', (piece: Buffer) => {
    pending.received(piece);
    member.heardAt = performance.now();
    if (pending.any) timer?.refresh();
    else stopWaiting();
  });
  // Waybill has closed its end. A server that does not react is unreachable.
  socket.once('finish', () => {
    stopWaiting();
    wait(CLOSE_TIMEOUT_MS);
  });
  socket.once('close', stopWaiting);
}

type Written = (error?: Error | null) => void;

function interceptWrites(socket: Socket, onWrite: (piece: Uint8Array) => void): void {
  const write = socket.write.bind(socket);
  socket.write = (piece: Uint8Array | string, encoding?: BufferEncoding | Written, written?: Written) => {
    onWrite(typeof piece === 'string' ? Buffer.from(piece) : piece);
    const done = typeof encoding === 'function' ? encoding : written;
    return typeof piece === 'string' ? write(piece, undefined, done) : write(piece, done);
  };
}

/** A socket that fails as soon as its user listens. */
function failing(error: Error): Socket {
  const socket = new Socket();
  setImmediate(() => socket.destroy(error));
  return socket;
}
