/** The receivers of a round, one webhook each: they answer by script and record their requests. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventType } from '../src/domain/event-types.ts';
import type { Ordering } from '../src/domain/webhook-fields.ts';
import { freePort } from '../test/support/servers/ports.ts';
import {
  createReceiver,
  type ReceivedRequest,
  type ReceiverAnswer,
} from '../test/support/servers/receiver.ts';
import type { InjectionPoint } from './injection-point.ts';
import type { Outcome } from './logbook.ts';
import type { PolicyName } from './policies.ts';
import { RECEIVER_HOST } from './stack/stack.ts';

/** A request as seen by its receiver. */
export interface Arrival {
  readonly deliveryId: string;
  /** The number of the attempt, from its header. */
  readonly number: number;
  /** The address that it came to; absent where its receiver has one. */
  readonly host?: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The time in its signature, in milliseconds since 1970. */
  readonly signedAt: number;
  /** When it was answered, or should have been; infinite until then. */
  endedAt: number;
  /** When the sender closed its connection without an answer; absent if it did not. */
  leftAt?: number;
  /** The status of the response; null until then. */
  status: number | null;
}

/** A receiver with its webhook. */
export interface Receiver {
  readonly kind: string;
  readonly type: EventType;
  readonly outcome: Outcome;
  readonly webhookId: number;
  readonly arrivals: readonly Arrival[];
  /** Not every attempt can reach it: some are only in Waybill's records. */
  readonly unseen?: boolean;
}

/** The behavior of one kind of receiver. */
export interface Script {
  readonly type: EventType;
  readonly outcome: Outcome;
  /** The transit time of a request to it, in milliseconds. */
  readonly transitMs?: number;
  /** How long it takes to respond, in milliseconds. */
  readonly delayMs?: number;
  /** @param host the address that the request came to */
  readonly status: (number: number, host: string) => number;
  /** Keeps no connection open, so that its name is looked up for every attempt. */
  readonly closes?: boolean;
  /** Of its webhook; default: none. */
  readonly ordering?: Ordering;
}

/** The number of attempts that the flaky receiver fails. */
const FLAKY_FAILURES = 2;

/** All created orders are accepted in the end; the one change of a status never is, and deactivates its webhooks. */
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

/** The receivers whose deliveries can be expected to end within a round, by policy. */
const kinds: Readonly<Record<PolicyName, readonly Kind[]>> = {
  scaled: ['healthy', 'flaky', 'slow', 'failing', 'gone'],
  tight: ['healthy', 'flaky', 'slow', 'failing', 'gone'],
  hours: ['healthy', 'slow', 'gone'],
  few: ['healthy', 'flaky', 'slow', 'failing', 'gone'],
  patient: ['healthy', 'failing'],
  short: ['healthy', 'failing'],
};

/** The kind of the receiver of recovered events. */
export const RECOVERED = 'recovered';

/** The delay of the response to the attempt that a fault waits for, in milliseconds, so that the fault meets it. */
const HELD_MS = 1_500;

/** The address of a receiver. */
export interface Where {
  /** A name to use in the webhook's URL instead of its address. */
  readonly name?: string;
  /** The addresses at which it listens. Default: {@link RECEIVER_HOST}. */
  readonly hosts?: readonly string[];
  /** Default: a free one. */
  readonly port?: number;
  readonly unseen?: boolean;
}

/** Registers a webhook; returns its id. */
export type Subscribe = (url: string, type: EventType, ordering?: Ordering) => Promise<number>;

/** All receivers of a round. */
export interface Receivers {
  readonly all: readonly Receiver[];
  /** Resolves at the injection point. */
  reached(injectionPoint: Exclude<InjectionPoint, 'orders'>): Promise<void>;
  /** Adds a receiver that runs by itself and keeps its own arrivals. */
  add(receiver: Receiver): void;
  /** Opens a receiver that answers by this script. */
  open(kind: string, script: Script, where?: Where): Promise<Receiver>;
  close(): Promise<void>;
}

/** Opens the receivers of a policy and registers their webhooks. */
export async function openReceivers(policy: PolicyName, subscribe: Subscribe): Promise<Receivers> {
  const all: Receiver[] = [];
  const closes: (() => Promise<void>)[] = [];
  const watchers = new Set<(kind: string, arrival: Arrival) => void>();
  let heldNumber: number | null = null;

  async function answer(
    kind: string,
    script: Script,
    request: ReceivedRequest,
    arrivals: Arrival[],
    host: string,
  ) {
    if (script.transitMs !== undefined) await sleep(script.transitMs);
    const arrival: Arrival = {
      deliveryId: String(request.headers['x-service-delivery']),
      number: Number(request.headers['x-service-attempt']),
      host,
      at: Date.now(),
      signedAt: 1_000 * Number(request.headers['webhook-timestamp']),
      endedAt: Number.POSITIVE_INFINITY,
      status: null,
    };
    arrivals.push(arrival);
    const left = () => {
      arrival.leftAt = Date.now();
    };
    if (request.signal.aborted) left();
    else request.signal.addEventListener('abort', left);
    const { number } = arrival;
    // Decided before the watchers are called, since they may end the holding.
    const held = kind === 'failing' && number === heldNumber;
    for (const watcher of watchers) watcher(kind, arrival);
    await sleep(held ? HELD_MS : (script.delayMs ?? 0));
    arrival.endedAt = Date.now();
    arrival.status = script.status(number, host);
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
    async open(kind, script, { name = RECEIVER_HOST, hosts = [RECEIVER_HOST], port, unseen = false } = {}) {
      const arrivals: Arrival[] = [];
      const listen = async (port: number) => {
        for (const host of hosts) {
          const handler = (request: ReceivedRequest) => answer(kind, script, request, arrivals, host);
          const server = await createReceiver(handler, { host, port });
          closes.push(() => server.close());
        }
        return port;
      };
      const taken = port === undefined ? await onFreePort(listen) : await listen(port);
      const { type, outcome, ordering } = script;
      const url = `http://${name}:${taken}/${encodeURIComponent(kind)}`;
      const webhookId = await subscribe(url, type, ordering);
      const receiver = { kind, type, outcome, webhookId, arrivals, unseen };
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

/** The number of ports to try: one that is free on 127.0.0.1 may be taken where receivers listen. */
const PORTS = 5;

/**
 * Listens on a port free on 127.0.0.1 too: Waybill refuses its own servers' ports on every address of the machine.
 * @throws the error of `listen` if it is not about a taken port, or for the last port
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
