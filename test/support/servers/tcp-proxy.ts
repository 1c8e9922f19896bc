/**
 * A TCP proxy for tests. Its links can fail as real ones do.
 *
 * @example
 * const proxy = await startTcpProxy({ port: postgresPort });
 * // … connect to proxy.host …
 * proxy.silence();  // packets vanish: neither end learns of it
 * proxy.pass();     // as before; links that were silenced stay dead
 * await proxy.close();
 */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { listenLocally } from './ports.ts';

/** The target of the links. */
export interface ProxyTarget {
  readonly port: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
}

/** A running proxy. */
export interface TcpProxy {
  readonly port: number;
  /** `127.0.0.1:<port>` */
  readonly host: string;
  /** Links accepted so far. */
  readonly accepted: number;
  /** Links open now. */
  readonly open: number;
  /** How many times clients have sent data. */
  readonly sent: number;
  /** New links pass everything. Silenced links stay silent, since their lost bytes cannot come back. */
  pass(): void;
  /** Resets every open link; new ones are passed or silenced as before. */
  cut(): void;
  /** Every link, open or new, swallows everything in both directions, including its end. */
  silence(): void;
  /** Resets the silent links: now both ends learn of it. */
  cutSilent(): void;
  /** Resets every link, and every new one as soon as it is accepted. */
  refuse(): void;
  /** Ends every link, and each new one once its client has sent something, as a proxy without its target does. */
  hangUp(): void;
  /** The next link that answers is reset after `bytes` of that answer. */
  cutInAnswer(bytes: number): void;
  /** Like `cutInAnswer`, but the link falls silent there. */
  silenceInAnswer(bytes: number): void;
  /** From now on, data from clients arrives this much later, in milliseconds; answers are not delayed. */
  delay(ms: number): void;
  /** New links lead to this port; open ones keep their target. */
  aim(port: number): void;
  close(): Promise<void>;
}

interface Link {
  readonly inner: Socket;
  readonly outer: Socket;
  silent: boolean;
}

/** Starts a proxy on a free port of 127.0.0.1 that passes everything. */
export async function startTcpProxy(target: ProxyTarget): Promise<TcpProxy> {
  let mode: 'pass' | 'silent' | 'refuse' | 'hang up' = 'pass';
  let inAnswer: { left: number; ending: 'cut' | 'silence' } | null = null;
  let accepted = 0;
  let sent = 0;
  let delayMs = 0;
  let { port: targetPort } = target;
  const links = new Set<Link>();

  const reset = ({ inner, outer }: Link) => {
    inner.resetAndDestroy();
    outer.resetAndDestroy();
  };

  /** Passes part of an answer on, up to the point where the link is to fail. */
  function answer(link: Link, piece: Buffer): void {
    if (inAnswer === null || piece.length < inAnswer.left) {
      if (inAnswer !== null) inAnswer.left -= piece.length;
      pass(link.outer, link.inner, piece);
      return;
    }
    const { left, ending } = inAnswer;
    inAnswer = null;
    if (ending === 'silence') link.silent = true;
    link.outer.write(piece.subarray(0, left), () => {
      if (ending === 'cut') reset(link);
    });
  }

  function pass(to: Socket, from: Socket, piece: Buffer): void {
    if (!to.write(piece)) {
      from.pause();
      to.once('drain', () => from.resume());
    }
  }

  const server = createServer({ allowHalfOpen: true, noDelay: true }, (outer) => {
    accepted += 1;
    outer.on('error', () => {});
    if (mode === 'refuse') return void outer.resetAndDestroy();
    if (mode === 'hang up') {
      outer.on('end', () => outer.end());
      return void outer.once('data', () => outer.end());
    }
    const { host = '127.0.0.1' } = target;
    const inner = connect({ port: targetPort, host, allowHalfOpen: true, noDelay: true });
    inner.on('error', () => {});
    const link: Link = { inner, outer, silent: mode === 'silent' };
    links.add(link);
    outer.on('data', (piece) => {
      sent += 1;
      if (link.silent) return;
      // Timers of equal length fire in the order in which they were set.
      if (delayMs > 0) setTimeout(() => pass(inner, outer, piece), delayMs);
      else pass(inner, outer, piece);
    });
    inner.on('data', (piece) => {
      if (!link.silent) answer(link, piece);
    });
    outer.on('end', () => {
      if (link.silent) return;
      if (delayMs > 0) setTimeout(() => inner.end(), delayMs);
      else inner.end();
    });
    inner.on('end', () => {
      if (!link.silent) outer.end();
    });
    outer.on('close', () => {
      links.delete(link);
      inner.destroy();
    });
    inner.on('close', () => {
      if (!link.silent) outer.destroy();
    });
  });
  const port = await listenLocally(server);

  return {
    port,
    host: `127.0.0.1:${port}`,
    get accepted() {
      return accepted;
    },
    get open() {
      return links.size;
    },
    get sent() {
      return sent;
    },
    pass() {
      mode = 'pass';
    },
    cut() {
      for (const link of links) reset(link);
    },
    silence() {
      mode = 'silent';
      for (const link of links) link.silent = true;
    },
    cutSilent() {
      for (const link of links) if (link.silent) reset(link);
    },
    refuse() {
      mode = 'refuse';
      for (const link of links) reset(link);
    },
    hangUp() {
      mode = 'hang up';
      for (const { outer } of links) outer.end();
    },
    cutInAnswer(bytes) {
      inAnswer = { left: bytes, ending: 'cut' };
    },
    silenceInAnswer(bytes) {
      inAnswer = { left: bytes, ending: 'silence' };
    },
    delay(ms) {
      delayMs = ms;
    },
    aim(port) {
      targetPort = port;
    },
    async close() {
      for (const link of links) reset(link);
      server.close();
      await once(server, 'close');
    },
  };
}
