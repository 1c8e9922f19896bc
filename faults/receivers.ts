/** The receivers of a round, one webhook each: they answer by script and write down what they see. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventType } from '../src/domain/event-types.ts';
import { freePort } from '../test/support/ports.ts';
import { createReceiver, type ReceivedRequest, type ReceiverAnswer } from '../test/support/receiver.ts';
import type { InjectionPoint } from './injection-point.ts';
import type { Outcome } from './ledger.ts';
import type { PolicyName } from './policies.ts';
import { RECEIVER_HOST } from './stack/stack.ts';

/** A request as it was seen. */
export interface Arrival {
  readonly deliveryId: string;
  /** Of the attempt, as its header says. */
  readonly number: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** When it was answered, or should have been; infinite while it is not. */
  endedAt: number;
  /** What was answered; null while nothing was. */
  status: number | null;
}

/** A receiver with its webhook. */
export interface Receiver {
  readonly kind: string;
  readonly type: EventType;
  readonly outcome: Outcome;
  readonly url: string;
  readonly webhookId: number;
  readonly arrivals: readonly Arrival[];
  /** Not every attempt can reach it: some are in our records alone. */
  readonly unseen?: boolean;
}

/** How one kind of receiver answers. */
export interface Script {
  readonly type: EventType;
  readonly outcome: Outcome;
  /** How long a request is on its way to it, in milliseconds. */
  readonly transitMs?: number;
  /** How long it thinks, in milliseconds. */
  readonly delayMs?: number;
  readonly status: (number: number) => number;
  /** Keeps no connection, so that its name is looked up for every attempt. */
  readonly closes?: boolean;
}

/** Attempts that the receiver with a bad start fails. */
const FLAKY_FAILURES = 2;

/**
 * Created orders go to receivers that all take them in the end. The one change of a status goes to receivers that
 * never do, so that each of their webhooks has one delivery, and is deactivated by it.
 */
const scripts = {
  healthy: { type: 'CREATE_ORDER', outcome: 'delivered', status: () => 200 },
  flaky: {
    type: 'CREATE_ORDER',
    outcome: 'delivered',
    status: (number) => (number <= FLAKY_FAILURES ? 503 : 200),
  },
  slow: { type: 'CREATE_ORDER', outcome: 'delivered', delayMs: 600, status: () => 204 },
  failing: { type: 'UPDATE_ORDER_STATUS', outcome: 'failed', status: () => 500 },
  gone: { type: 'UPDATE_ORDER_STATUS', outcome: 'gone', status: () => 410 },
} as const satisfies Record<string, Script>;
type Kind = keyof typeof scripts;

/** Who can be expected to come to an end under each policy within a round. */
const kinds: Readonly<Record<PolicyName, readonly Kind[]>> = {
  scaled: ['healthy', 'flaky', 'slow', 'failing', 'gone'],
  tight: ['healthy', 'flaky', 'slow', 'failing', 'gone'],
  hours: ['healthy', 'slow', 'gone'],
  few: ['healthy', 'flaky', 'slow', 'failing', 'gone'],
  patient: ['healthy', 'failing'],
  short: ['healthy', 'failing'],
};

/** The kind of the receiver for which something is recovered. */
export const RECOVERED = 'recovered';

/** The attempt that a fault waits for is answered this late, in milliseconds, so that the fault meets it. */
const HELD_MS = 1_500;

/** Where a receiver is. */
export interface Where {
  /** Instead of its address in the webhook's URL. */
  readonly name?: string;
  /** Default: a free one. */
  readonly port?: number;
  readonly unseen?: boolean;
}

/** Registers a webhook; answers its id. */
export type Subscribe = (url: string, type: EventType) => Promise<number>;

/** All receivers of a round. */
export interface Receivers {
  readonly all: readonly Receiver[];
  /** Resolves at the injection point. */
  reached(injectionPoint: Exclude<InjectionPoint, 'orders'>): Promise<void>;
  /** Adds one that runs by itself, with what it sees. */
  add(receiver: Receiver): void;
  /** Adds one that answers by this script. */
  open(kind: string, script: Script, where?: Where): Promise<Receiver>;
  close(): Promise<void>;
}

/** Opens the receivers of a policy and registers their webhooks. */
export async function openReceivers(policy: PolicyName, subscribe: Subscribe): Promise<Receivers> {
  const all: Receiver[] = [];
  const closes: (() => Promise<void>)[] = [];
  const watchers = new Set<(kind: string, arrival: Arrival) => void>();
  let heldNumber: number | null = null;

  async function answer(kind: string, script: Script, request: ReceivedRequest, arrivals: Arrival[]) {
    if (script.transitMs !== undefined) await sleep(script.transitMs);
    const arrival: Arrival = {
      deliveryId: String(request.headers['x-service-delivery']),
      number: Number(request.headers['x-service-attempt']),
      at: Date.now(),
      endedAt: Number.POSITIVE_INFINITY,
      status: null,
    };
    arrivals.push(arrival);
    const { number } = arrival;
    // Before the watchers hear of it: they may end the holding.
    const held = kind === 'failing' && number === heldNumber;
    for (const watcher of watchers) watcher(kind, arrival);
    await sleep(held ? HELD_MS : (script.delayMs ?? 0));
    arrival.endedAt = Date.now();
    arrival.status = script.status(number);
    const headers = script.closes === true ? { connection: 'close' } : undefined;
    return { status: arrival.status, ...(headers && { headers }) } satisfies ReceiverAnswer;
  }

  function isReached(
    injectionPoint: Exclude<InjectionPoint, 'orders'>,
    kind: string,
    number: number,
  ): boolean {
    if (injectionPoint === 'slow') return kind === 'slow';
    if (typeof injectionPoint === 'number') return kind === 'failing' && number === injectionPoint;
    const arrivals = all.find((receiver) => receiver.kind === RECOVERED)?.arrivals ?? [];
    return arrivals.length >= Number(injectionPoint.split(' ')[1]);
  }

  const receivers: Receivers = {
    all,
    reached(injectionPoint) {
      if (typeof injectionPoint === 'number') heldNumber = injectionPoint;
      return new Promise((resolve) => {
        const watcher = (kind: string, { number }: Arrival) => {
          if (!isReached(injectionPoint, kind, number)) return;
          heldNumber = null;
          watchers.delete(watcher);
          resolve();
        };
        watchers.add(watcher);
      });
    },
    add: (receiver) => void all.push(receiver),
    async open(kind, script, { name = RECEIVER_HOST, port, unseen = false } = {}) {
      const arrivals: Arrival[] = [];
      const listen = (port: number) =>
        createReceiver((request) => answer(kind, script, request, arrivals), { host: RECEIVER_HOST, port });
      const server = port === undefined ? await onFreePort(listen) : await listen(port);
      closes.push(() => server.close());
      const { type, outcome } = script;
      const url = `http://${name}:${server.port}/${encodeURIComponent(kind)}`;
      const receiver = { kind, type, outcome, url, webhookId: await subscribe(url, type), arrivals, unseen };
      all.push(receiver);
      return receiver;
    },
    async close() {
      for (const close of closes) await close();
    },
  };
  for (const kind of kinds[policy]) await receivers.open(kind, scripts[kind]);
  return receivers;
}

/** Ports that are tried: one that is free on 127.0.0.1 may be taken where receivers listen. */
const PORTS = 5;

/**
 * Free on 127.0.0.1 too: what one of Waybill's own servers has there is refused on every address of this machine.
 * @throws what `listen` threw, if not for a port that is taken, or with the last port
 */
async function onFreePort<T>(listen: (port: number) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await listen(await freePort());
    } catch (error) {
      const taken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
      if (!taken || tries === PORTS) throw error;
    }
  }
}
