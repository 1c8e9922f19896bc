/**
 * The connections to receivers: a set per e-shop, so that nothing of one e-shop waits for another's.
 *
 * Connections are kept alive, since thousands of deliveries go to few hosts. A receiver may close an idle connection
 * at the very moment we use it, and then it is unknown whether it read the request; such an attempt fails and is
 * retried like any other, rather than sent twice under one number. So that it stays rare, an idle connection is
 * given up before receivers usually do: after 2 s, or 2 s before the end that a receiver's `Keep-Alive` announces.
 */
import { Agent, type buildConnector } from 'undici';

export interface Connections {
  /** Calls with the connections of this e-shop; they stay while a call is under way, and for a while after it. */
  use<T>(eshopId: number, call: (agent: Agent) => Promise<T>): Promise<T>;
  /** Closes all, whatever is in progress. */
  destroy(): Promise<void>;
}

/** Idle time of a connection when the receiver announces none, and the margin before the end it announces. */
const IDLE_MS = 2_000;
const LONGEST_IDLE_MS = 30_000;

interface EshopPool {
  readonly agent: Agent;
  underWay: number;
  /** Closes the pool once none of its connections can still be of use. */
  end: NodeJS.Timeout | undefined;
}

/** @param connectorFor makes the connector of one e-shop */
export function createConnections(connectorFor: (eshopId: number) => buildConnector.connector): Connections {
  const pools = new Map<number, EshopPool>();

  function poolOf(eshopId: number): EshopPool {
    const known = pools.get(eshopId);
    if (known !== undefined) return known;
    const agent = new Agent({
      connect: connectorFor(eshopId),
      keepAliveTimeout: IDLE_MS,
      keepAliveTimeoutThreshold: IDLE_MS,
      keepAliveMaxTimeout: LONGEST_IDLE_MS,
      // The caller has one timer for the whole attempt.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const pool: EshopPool = { agent, underWay: 0, end: undefined };
    pools.set(eshopId, pool);
    return pool;
  }

  function endLater(eshopId: number, pool: EshopPool): void {
    pool.end = setTimeout(() => {
      pools.delete(eshopId);
      void pool.agent.destroy();
    }, LONGEST_IDLE_MS).unref();
  }

  return {
    async use(eshopId, call) {
      const pool = poolOf(eshopId);
      clearTimeout(pool.end);
      pool.underWay += 1;
      try {
        return await call(pool.agent);
      } finally {
        pool.underWay -= 1;
        if (pool.underWay === 0) endLater(eshopId, pool);
      }
    },
    async destroy() {
      for (const pool of pools.values()) clearTimeout(pool.end);
      await Promise.all([...pools.values()].map(({ agent }) => agent.destroy()));
      pools.clear();
    },
  };
}
