/**
 * Receivers that are hostile on the wire. Each can spoil only its own deliveries: those to the others come in time.
 */
import { readFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { listenLocally } from '../../test/support/servers/ports.ts';
import type { Fault, Scene } from '../fault.ts';
import type { Outcome } from '../logbook.ts';
import type { Arrival } from '../receivers.ts';
import { RECEIVER_HOST } from '../stack/stack.ts';

interface Hostile {
  readonly name: string;
  readonly outcome: Extract<Outcome, 'delivered' | 'failed'>;
  /** Handles a request that has arrived. */
  readonly answer: (socket: Socket, scene: Scene) => void;
  /** A certificate of test/support/servers/tls that no client should trust: then no request arrives. */
  readonly certificate?: string;
}

const OK = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n';

/** Writes a piece at this interval, in milliseconds, as long as the connection is open. */
function drip(socket: Socket, piece: string, everyMs: number): void {
  const timer = setInterval(() => socket.write(piece), everyMs);
  socket.once('close', () => clearInterval(timer));
}

/** Writes as fast as the client reads. */
function flood(socket: Socket, piece: string): void {
  const pump = () => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on('drain', pump);
  pump();
}

const pem = (name: string) =>
  readFileSync(new URL(`../../test/support/servers/tls/${name}`, import.meta.url));

/** Notes the attempt named in a request's head, and answers it. */
function serve({ outcome, answer }: Hostile, scene: Scene, arrivals: Arrival[]) {
  return (socket: Socket) => {
    let text = '';
    socket.on('error', () => {});
    socket.setEncoding('latin1').on('data', (part) => {
      const seen = text.includes('\r\n\r\n');
      text += part;
      if (seen || !text.includes('\r\n\r\n')) return;
      const header = (name: string) => new RegExp(`^${name}: *(\\S+)`, 'im').exec(text)?.[1] ?? '';
      const at = Date.now();
      const arrival: Arrival = {
        deliveryId: header('x-service-delivery'),
        number: Number(header('x-service-attempt')),
        at,
        signedAt: 1_000 * Number(header('webhook-timestamp')),
        endedAt: at,
        status: outcome === 'delivered' ? 200 : null,
      };
      arrivals.push(arrival);
      socket.once('close', () => {
        arrival.endedAt = Date.now();
      });
      text = '\r\n\r\n';
      answer(socket, scene);
    });
  };
}

function fault(hostile: Hostile): Fault {
  const { name, outcome, certificate } = hostile;
  const servers = new WeakMap<Scene, { server: Server; sockets: Set<Socket> }>();
  return {
    group: 'receiver',
    name,
    policies: ['few'],
    async prepare(scene) {
      const arrivals: Arrival[] = [];
      const sockets = new Set<Socket>();
      const onSocket = serve(hostile, scene, arrivals);
      const server =
        certificate === undefined
          ? createServer(onSocket)
          : createTlsServer({ key: pem('server.key'), cert: pem(certificate) }, onSocket);
      server.on('connection', (socket: Socket) => sockets.add(socket));
      const port = await listenLocally(server, 0, RECEIVER_HOST);
      servers.set(scene, { server, sockets });
      const url = `${certificate === undefined ? 'http' : 'https'}://${RECEIVER_HOST}:${port}/hostile`;
      // A receiver that never accepts anything gets one delivery, which deactivates its webhook.
      const type = outcome === 'delivered' ? 'CREATE_ORDER' : 'UPDATE_ORDER_STATUS';
      const webhookId = await scene.shop.subscribe(url, type);
      const unseen = certificate !== undefined;
      scene.receivers.add({ kind: 'hostile', type, outcome, webhookId, arrivals, unseen });
    },
    async finish(scene) {
      const running = servers.get(scene);
      running?.server.close();
      for (const socket of running?.sockets ?? []) socket.destroy();
    },
  };
}

const hostiles: readonly Hostile[] = [
  {
    name: 'drips its headers',
    outcome: 'failed',
    answer(socket) {
      socket.write(`${OK}X-Slow: `);
      drip(socket, 'x', 100);
    },
  },
  {
    name: 'drips its body',
    outcome: 'delivered',
    answer(socket) {
      socket.write(`${OK}Content-Length: 1000000\r\n\r\n`);
      drip(socket, 'x', 100);
    },
  },
  {
    name: 'floods with a body',
    outcome: 'delivered',
    answer(socket) {
      socket.write(`${OK}Content-Length: 100000000000\r\n\r\n`);
      flood(socket, 'x'.repeat(65_536));
    },
  },
  {
    name: 'floods with headers',
    outcome: 'failed',
    answer(socket) {
      socket.write(OK);
      flood(socket, `X-Flood: ${'x'.repeat(8_000)}\r\n`);
    },
  },
  {
    name: 'floods with 103 answers',
    outcome: 'failed',
    answer: (socket) => flood(socket, 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(500)),
  },
  { name: 'resets the connection', outcome: 'failed', answer: (socket) => void socket.resetAndDestroy() },
  { name: 'sends garbage', outcome: 'failed', answer: (socket) => void socket.end('HELLO?\r\n\r\n') },
  { name: 'has a wrong certificate', outcome: 'failed', certificate: 'other-name.pem', answer: () => {} },
  {
    name: 'redirects to a private address',
    outcome: 'failed',
    answer(socket, { stack }) {
      socket.end(`HTTP/1.1 302 Found\r\nLocation: ${stack.forbidden.url}/\r\nContent-Length: 0\r\n\r\n`);
    },
  },
];

export const receiverFaults: readonly Fault[] = hostiles.map(fault);
