/**
 * The connections to receivers: a set per e-shop, so that no e-shop waits for another.
 *
 * Connections are kept alive, since thousands of deliveries go to few hosts. A receiver may close an idle
 * connection just as we use it: that request is sent again, and its host gets fresh connections for a while
 * (`kept-client.ts`). To keep this rare, an idle connection is closed before receivers usually do so: after 2 s, or
 * 2 s before the end that a receiver's `Keep-Alive` announces. A connection in steady use is closed at a maximum age,
 * after the request under way: the next one looks up the name again, and checks the address and the certificate.
 */
import { Agent, type buildConnector, type Dispatcher, Pool } from 'undici';
import { KeptClient } from './kept-client.ts';

/** The connections for a request to this origin. @param fresh whether kept connections must not be used */
export type ConnectionsTo = (origin: string, fresh: boolean) => Dispatcher;

/** The idle time of a connection if the receiver announces none, and the margin before an announced end. */
const IDLE_MS = 2_000;
const MAX_IDLE_MS = 30_000;
/** How long a host that closed a connection under a request gets fresh ones. */
const FRESH_MS = 600_000;

interface EshopPool {
  readonly kept: Agent;
  readonly fresh: Agent;
  readonly connectionsTo: ConnectionsTo;
  underWay: number;
  /** Closes the pool once none of its connections can be used. */
  end: NodeJS.Timeout | undefined;
}

/** @param connectorFor makes the connector of one e-shop @param maxAgeMs no request begins on an older connection */
export function createConnections(
  connectorFor: (eshopId: number) => buildConnector.connector,
  maxAgeMs: number,
) {
  const pools = new Map<number, EshopPool>();

  function poolOf(eshopId: number): EshopPool {
    const existing = pools.get(eshopId);
    if (existing !== undefined) return existing;
    const connect = connectorFor(eshopId);
    // The caller has one timer for the whole attempt.
    const untimed = { connect, headersTimeout: 0, bodyTimeout: 0 };
    // Without pipelining a connection serves one request.
    const fresh = new Agent({ ...untimed, pipelining: 0 });
    /** By origin, on the clock of `performance`. */
    const freshUntil = new Map<string, number>();
    const keepAlive = new Agent({
      ...untimed,
      keepAliveTimeout: IDLE_MS,
      keepAliveTimeoutThreshold: IDLE_MS,
      keepAliveMaxTimeout: MAX_IDLE_MS,
      factory: (origin, options) =>
        new Pool(origin, {
          ...options,
          clientTtl: maxAgeMs,
          factory: (url, clientOptions) =>
            new KeptClient(url, clientOptions, (request, handler) => {
              freshUntil.set(url.origin, performance.now() + FRESH_MS);
              fresh.dispatch({ ...request, origin: url.origin }, handler);
            }),
        }),
    });
    const connectionsTo: ConnectionsTo = (origin, always) =>
      always || (freshUntil.get(origin) ?? 0) > performance.now() ? fresh : keepAlive;
    const pool: EshopPool = { kept: keepAlive, fresh, connectionsTo, underWay: 0, end: undefined };
    pools.set(eshopId, pool);
    return pool;
  }

  function endLater(eshopId: number, pool: EshopPool): void {
    pool.end = setTimeout(() => {
      pools.delete(eshopId);
      void destroyPool(pool);
    }, MAX_IDLE_MS).unref();
  }

  return {
    /** Passes this e-shop's connections to a function; they stay open during the call and for a while after it. */
    async use<T>(eshopId: number, call: (connectionsTo: ConnectionsTo) => Promise<T>): Promise<T> {
      const pool = poolOf(eshopId);
      clearTimeout(pool.end);
      pool.underWay += 1;
      try {
        return await call(pool.connectionsTo);
      } finally {
        pool.underWay -= 1;
        if (pool.underWay === 0) endLater(eshopId, pool);
      }
    },
    /** Closes all, even during calls. */
    async destroy(): Promise<void> {
      for (const pool of pools.values()) clearTimeout(pool.end);
      await Promise.all([...pools.values()].map(destroyPool));
      pools.clear();
    },
  };
}

async function destroyPool({ kept, fresh }: EshopPool): Promise<void> {
  await Promise.all([kept.destroy(), fresh.destroy()]);
}
