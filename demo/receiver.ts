/**
 * A receiver as an e-shop would write it, with the kit: every delivery is verified, and the good ones are counted per kind.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { memoryStore, Refused, receiver } from '../receiver/src/index.ts';
import { nodeListener } from '../receiver/src/node.ts';
import { type EventType, eventTypeNames } from '../src/domain/event-types.ts';

/** A receiver that listens. */
export interface DemoReceiver {
  /** `http://127.0.0.1:<port>`; the kind is the path below it. */
  readonly url: string;
  /** Tells it the secret of the webhook of this kind. */
  trust(kind: EventType, secret: string): void;
  /** Deliveries with a good signature, each counted once however often it came. */
  delivered(): Map<EventType, number>;
  /** Requests whose signature did not fit. */
  refused(): number;
  close(): Promise<void>;
}

/** Starts a receiver on a free port of the loopback interface. */
export async function startReceiver(): Promise<DemoReceiver> {
  const secrets = new Map<string, string>();
  const delivered = new Map<EventType, number>();
  let refused = 0;

  const hooks = receiver({
    secrets: (kind) => secrets.get(kind),
    store: memoryStore(),
    payloadVersion: 'v21',
    onProblem(problem) {
      if (problem instanceof Refused && problem.status === 401) refused += 1;
    },
  }).on(eventTypeNames, (_record, { kind }) => void delivered.set(kind, (delivered.get(kind) ?? 0) + 1));
  const server = createServer(nodeListener(hooks));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;

  return {
    url: `http://127.0.0.1:${port}`,
    trust: (kind, secret) => void secrets.set(kind, secret),
    delivered: () => new Map(delivered),
    refused: () => refused,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
