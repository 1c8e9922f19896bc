/**
 * A receiver as an e-shop would write it, with the kit: every delivery is verified, and the valid ones are counted
 * per webhook. For some webhooks it fails.
 */
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { memoryStore, Refused, receiver } from '../receiver/src/index.ts';
import { nodeListener } from '../receiver/src/node.ts';
import { type EventType, eventTypeNames } from '../src/domain/event-types.ts';
import { listen } from '../src/lib/listen.ts';
import type { ReceiverBehavior } from './scenes.ts';

/** The number of an attempt, from 1. */
type Attempt = number;

/** A receiver that listens. */
export interface DemoReceiver {
  /** `http://127.0.0.1:<port>`; any path below it. */
  readonly url: string;
  /** Sets the secret of a webhook, and how its requests are treated (default: they are accepted). */
  trust(webhookId: number, secret: string, conduct?: (attempt: Attempt) => ReceiverBehavior): void;
  /**
   * Deliveries of a webhook, all or those of a kind, with a matching signature, each counted once even if it came
   * several times.
   */
  delivered(webhookId: number, kind?: EventType): number;
  /** Requests of a webhook that were refused on purpose. */
  rejected(webhookId: number): number;
  /** Requests whose signature did not match. */
  refused(): number;
  close(): Promise<void>;
}

/** Starts a receiver on a free port of the loopback interface. */
export async function startReceiver(): Promise<DemoReceiver> {
  const known = new Map<number, { readonly secret: string; conduct(attempt: Attempt): ReceiverBehavior }>();
  const [delivered, rejected] = [new Map<string, number>(), new Map<string, number>()];
  let refused = 0;

  const hooks = receiver({
    secrets: (_kind, webhookId) => known.get(webhookId)?.secret,
    store: memoryStore(),
    payloadVersion: 'v21',
    onProblem(problem) {
      if (problem instanceof Refused && problem.status === 401) refused += 1;
    },
  }).on(eventTypeNames, (_record, { webhookId, kind }) => {
    count(delivered, keyOf(webhookId));
    count(delivered, keyOf(webhookId, kind));
  });
  const accept = nodeListener(hooks);

  const server = createServer(async (incoming, outgoing) => {
    const webhookId = Number(incoming.headers['x-service-webhook']);
    const { refuses, afterMs } =
      known.get(webhookId)?.conduct(Number(incoming.headers['x-service-attempt'])) ?? {};
    if (afterMs !== undefined) await sleep(afterMs);
    if (refuses === undefined) return await accept(incoming, outgoing);
    count(rejected, keyOf(webhookId));
    incoming.resume();
    outgoing.writeHead(refuses, { 'content-type': 'text/plain' });
    outgoing.end(refuses === 410 ? 'This shop has moved away.' : 'Down for maintenance.');
  });
  const { port, close } = await listen(server, 0);

  return {
    url: `http://127.0.0.1:${port}`,
    trust: (webhookId, secret, conduct = () => ({})) => void known.set(webhookId, { secret, conduct }),
    delivered: (webhookId, kind) => delivered.get(keyOf(webhookId, kind)) ?? 0,
    rejected: (webhookId) => rejected.get(keyOf(webhookId)) ?? 0,
    refused: () => refused,
    close,
  };
}

const keyOf = (webhookId: number, kind?: string) => `${webhookId} ${kind ?? 'all'}`;

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
