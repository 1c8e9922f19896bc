/**
 * The idle connections of a server. They are kept for as long as clients keep theirs, so their number needs a bound,
 * and a server that stops must not wait for them.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * @param maxConnections of the server, idle ones included: beyond it the one that has been idle for longest is
 * closed, or the new one if all are busy
 */
export function watchIdle(server: Server, maxConnections = Number.POSITIVE_INFINITY) {
  /** The connection that has been idle for longest comes first. */
  const idle = new Set<Socket>();
  const unanswered = new Map<Socket, Set<ServerResponse>>();
  let open = 0;
  let draining = false;

  server.on('connection', (socket) => {
    open += 1;
    socket.once('close', () => {
      open -= 1;
      idle.delete(socket);
      unanswered.delete(socket);
    });
    if (open <= maxConnections) return;
    const [longest = socket] = idle;
    idle.delete(longest);
    longest.destroy();
  });

  return {
    begin(incoming: IncomingMessage, outgoing: ServerResponse): void {
      const { socket } = incoming;
      idle.delete(socket);
      const others = unanswered.get(socket) ?? new Set();
      unanswered.set(socket, others.add(outgoing));
      if (draining) outgoing.shouldKeepAlive = false;
      outgoing.once('close', () => {
        others.delete(outgoing);
        // A client that is still sending may read the response only afterwards.
        if (others.size > 0 || socket.destroyed || !incoming.complete) return;
        idle.add(socket);
        // The head was sent before the shutdown began, so the client does not know that the connection ends.
        if (draining) server.closeIdleConnections();
      });
    },
    /** From now on each connection is closed with its response, and idle ones at once. */
    drain(): void {
      draining = true;
      for (const each of unanswered.values())
        for (const outgoing of each) if (!outgoing.headersSent) outgoing.shouldKeepAlive = false;
      server.closeIdleConnections();
    },
  };
}
