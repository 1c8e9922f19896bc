/** A connection to a server that accepts it and then stays silent. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSocket, SocketGroup } from '../../src/db/connection/watched-socket.ts';
import { listenLocally } from '../support/servers/ports.ts';

let port = 0;
const taken: Socket[] = [];
const server = createServer({ allowHalfOpen: true }, (socket) => {
  socket.on('error', () => {});
  socket.resume();
  taken.push(socket);
});

beforeEach(async () => {
  port = await listenLocally(server);
});
afterEach(async () => {
  for (const socket of taken.splice(0)) socket.destroy();
  server.close();
  await once(server, 'close');
});

function open(silenceMs: number | null): Promise<Socket> {
  const target = { host: '127.0.0.1', port, tls: { mode: 'off', verified: false } } as const;
  return openSocket(target, { connectMs: 5_000, silenceMs }, new SocketGroup());
}

/** How a socket ends. */
function end(socket: Socket): Promise<unknown> {
  return new Promise((resolve) => {
    socket.once('error', resolve);
    socket.once('close', () => resolve(null));
  });
}

test('a silent connection is given up after something has been sent', async () => {
  const socket = await open(200);
  socket.write(Buffer.from([0, 0, 0, 8, 0, 3, 0, 0]));

  expect(await end(socket)).toMatchObject({ name: 'DatabaseSilent', code: 'CONNECTION_SILENT' });
});

test('a silent connection is given up after a goodbye, even if nothing else is watched', async () => {
  for (const silenceMs of [60_000, null]) {
    const socket = await open(silenceMs);
    socket.end(Buffer.from('X'));

    expect(await end(socket)).toMatchObject({ name: 'DatabaseSilent' });
  }
});

test('a refused connection gives a socket that fails, not a rejected promise', async () => {
  const target = { host: '127.0.0.1', port: 1, tls: { mode: 'off', verified: false } } as const;
  const socket = await openSocket(target, { connectMs: 5_000, silenceMs: 200 }, new SocketGroup());

  expect(await end(socket)).toMatchObject({ code: 'ECONNREFUSED' });
});

/**
 * A connection's timer in the system's table: 02 is keep-alive. Both ends are compared: a closed connection stays
 * there for a minute, with its local port.
 */
async function timerOf(socket: Socket): Promise<string | undefined> {
  const [local, remote] = [socket.localPort, socket.remotePort].map(
    (port) => `:${port?.toString(16).toUpperCase().padStart(4, '0')}`,
  );
  const rows = (await readFile('/proc/net/tcp', 'utf8')).split('\n').map((row) => row.trim().split(/ +/));
  return rows.find(([, from, to]) => from?.endsWith(`${local}`) && to?.endsWith(`${remote}`))?.[5];
}

test.skipIf(process.platform !== 'linux')('an idle connection is probed by the system', async () => {
  const socket = await open(null);

  // The table is read in pieces while other connections come and go: one reading may miss this one.
  await expect.poll(() => timerOf(socket)).toMatch(/^02:/);

  socket.destroy();
});
