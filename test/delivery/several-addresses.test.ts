/** A name with several addresses, some of which are dead: each gets its share of the time for connecting. */
import { once } from 'node:events';
import { createServer } from 'node:https';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { receiverOfTest } from '../support/lifetimes.ts';
import { listenLocally } from '../support/servers/ports.ts';
import { until } from '../support/until.ts';
import { attempt, pem, startNames, startSender } from './support.ts';

/** Listens and never accepts, its thread being blocked: once the queue is full, connections get no answer at all. */
const SILENT = `
  const { parentPort, workerData: { hosts, port } } = require('node:worker_threads');
  const { createServer } = require('node:net');
  let listening = 0;
  for (const host of hosts)
    createServer().listen({ host, port, backlog: 1 }, () => {
      listening += 1;
      if (listening < hosts.length) return;
      parentPort.postMessage('listening');
      setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
    });`;

/** Makes a port of these addresses silent, which accepts connections at the address that is alive. */
async function silence(hosts: readonly string[], port: number): Promise<void> {
  const sockets: Socket[] = [];
  const worker = new Worker(SILENT, { eval: true, workerData: { hosts, port } });
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await worker.terminate();
  });
  await new Promise((resolve) => worker.once('message', resolve));
  for (const host of hosts) {
    // Connections fill the queue until one hangs: on this machine, none is overtaken by a later one.
    await until(`${host} is silent`, async () => {
      const socket = opened(host);
      let connected = false;
      socket.once('connect', () => {
        connected = true;
      });
      await once(opened(ALIVE), 'connect');
      await once(opened(ALIVE), 'connect');
      return !connected;
    });
  }

  function opened(host: string): Socket {
    const socket = connect({ host, port });
    sockets.push(socket);
    return socket.on('error', () => {});
  }
}

const DEAD = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5', '127.0.0.6'];
const ALIVE = '127.0.0.7';

async function shopAt(addresses: readonly string[], connectTimeoutMs: number) {
  const receiver = await receiverOfTest({}, { host: ALIVE });
  await silence(DEAD, receiver.port);
  const dns = await startNames({ 'shop.example': addresses });
  const sender = startSender({ connectTimeoutMs, dnsServers: [dns.address] });
  return await sender.send(attempt(`http://shop.example:${receiver.port}`));
}

test('the sixth address is reached behind five silent ones', async () => {
  expect(await shopAt([...DEAD, ALIVE], 4_000)).toMatchObject({ outcome: 'success', status: 200 });
});

test('the error says how many addresses were tried', async () => {
  const { error } = await shopAt(DEAD, 2_000);
  expect(error).toMatch(/^no connection to shop\.example:\d+ within 2 s \(5 addresses tried\)$/);
});

test('the error says how many addresses refused', async () => {
  const { port, close } = await receiverOfTest({}, { host: '127.0.0.9' });
  await close();
  const dns = await startNames({ 'shop.example': DEAD });
  const { error } = await startSender({ dnsServers: [dns.address] }).send(
    attempt(`http://shop.example:${port}`),
  );
  expect(error).toBe(`shop.example:${port} refused the connection (5 addresses tried)`);
});

test.each(['TLSv1.2', 'TLSv1.3'] as const)(
  'TLS sessions are resumed up to their maximum age, in %s',
  async (version) => {
    const tls = { key: await pem('server.key'), cert: await pem('valid.pem') };
    const resumed: boolean[] = [];
    const server = createServer({ ...tls, minVersion: version, maxVersion: version }, (request, response) => {
      request.resume().on('end', () => response.writeHead(200, { connection: 'close' }).end());
    });
    server.on('secureConnection', (socket) => resumed.push(socket.isSessionReused()));
    const port = await listenLocally(server);
    onTestFinished(() => void server.close());
    const sender = startSender({ ca: await pem('ca.pem'), maxConnectionAgeMs: 2_000 });
    await until('a second full handshake', async () => {
      expect((await sender.send(attempt(`https://localhost:${port}`))).outcome).toBe('success');
      return resumed.lastIndexOf(false) > 0;
    });
    expect(resumed.slice(0, 2)).toEqual([false, true]);
  },
);
