/** Senders and servers for the tests of the wire, taken down after each test. */
import { readFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import {
  type AttemptRequest,
  createSender,
  type Sender,
  type SenderOptions,
} from '../../src/delivery/sender.ts';
import { type DnsAnswer, type DnsServer, startDnsServer } from '../support/servers/dns-server.ts';
import { listenLocally } from '../support/servers/ports.ts';
import { wireEvent } from '../support/wire-event.ts';

/** A sender that may call this machine, and is patient when it is busy. */
export function startSender(options: Partial<SenderOptions> = {}): Sender {
  const sender = createSender({
    timeoutMs: 30_000,
    allowCidrs: ['127.0.0.0/8', '::1/128'],
    version: '1.2.3',
    ...options,
  });
  onTestFinished(() => sender.close());
  return sender;
}

/** A TCP server on a free port; the test writes its protocol. */
export async function startTcpServer(onConnection: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    onConnection(socket);
  });
  const port = await listenLocally(server);
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return `127.0.0.1:${port}`;
}

/** A name server with these names and the root. */
export async function startNames(names: Readonly<Record<string, DnsAnswer>>): Promise<DnsServer> {
  const server = await startDnsServer(names);
  onTestFinished(() => server.close());
  return server;
}

/** A key or certificate of `test/support/servers/tls`. Its made-up authority has no key any more. */
export function pem(name: string): Promise<string> {
  return readFile(new URL(`../support/servers/tls/${name}`, import.meta.url), 'utf8');
}

/** Path and query of the URLs called: no message may contain any of it. */
export const PATH = '/secret-path?token=geheim';

/** An attempt at this URL. */
export function attempt(url: string, changes: Partial<AttemptRequest> = {}): AttemptRequest {
  return {
    eshopId: 1,
    url: url + PATH,
    at: new Date(),
    method: 'POST',
    secrets: ['whsec_bmV3IHNlY3JldCBvZiB0aGlydHktdHdvIGJ5dGVzISE='],
    deliveryId: '0197a0b4-0000-7000-8000-000000000001',
    eventType: 'CREATE_ORDER',
    ...wireEvent,
    entityId: 'ž 1/2',
    number: 1,
    body: '{"note":"kůň"}',
    ...changes,
  };
}
