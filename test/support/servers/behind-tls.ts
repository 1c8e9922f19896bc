import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { createServer } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { listenLocally } from './ports.ts';

const file = (name: string) => fileURLToPath(new URL(`./tls/${name}`, import.meta.url));

/** The authority that signed {@link certificate}. */
export const authorityFile = file('ca.pem');

/** A key and a certificate for `localhost` and `127.0.0.1`, in PEM. */
export async function certificate() {
  return { key: await readFile(file('server.key'), 'utf8'), cert: await readFile(file('valid.pem'), 'utf8') };
}

/** @param address `host:port` of a server that speaks HTTP/2 */
export async function behindTls(address: string) {
  const [host, port] = address.split(':');
  const sockets = new Set<Socket>();
  const server = createServer({ ...(await certificate()), ALPNProtocols: ['h2'] }, (outside) => {
    const inside = connect(Number(port), host);
    sockets.add(inside);
    outside.on('error', () => inside.destroy()).pipe(inside);
    inside.on('error', () => outside.destroy()).pipe(outside);
  });
  const own = await listenLocally(server);
  return {
    address: `localhost:${own}`,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
