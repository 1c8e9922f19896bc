/**
 * The connections to receivers: a set per e-shop, so that nothing of one e-shop waits for another's.
 *
 * Connections are kept alive, since thousands of deliveries go to few hosts. A receiver may close an idle connection
 * at the very moment we use it, and then it is unknown whether it read the request; such an attempt fails and is
 * retried like any other, rather than sent twice under one number. So that it stays rare, an idle connection is
 * given up before receivers usually do: after 2 s, or 2 s before the end that a receiver's `Keep-Alive` announces.
 * @module
 */
import { Agent, type buildConnector } from 'undici';

/** The connections of all e-shops. */
export interface Connections {
  /** Calls with the connections of this e-shop; they stay while a call is under way, and for a while after it. */
  use<T>(eshopId: number, call: (agent: Agent) => Promise<T>): Promise<T>;
  /** Closes all, whatever is under way. */
  destroy(): Promise<void>;
}

/** Idle time of a connection when the receiver announces none, and the margin before the end it announces. */
const IDLE_MS = 2_000;
const LONGEST_IDLE_MS = 30_000;

interface Lane {
  readonly agent: Agent;
  underWay: number;
  /** Ends the lane once none of its connections can still be of use. */
  end: NodeJS.Timeout | undefined;
}

/** @param connectorFor makes the connector of one e-shop */
export function createConnections(connectorFor: (eshopId: number) => buildConnector.connector): Connections {
  const lanes = new Map<number, Lane>();

  function laneOf(eshopId: number): Lane {
    const known = lanes.get(eshopId);
    if (known !== undefined) return known;
    const agent = new Agent({
      connect: connectorFor(eshopId),
      keepAliveTimeout: IDLE_MS,
      keepAliveTimeoutThreshold: IDLE_MS,
      keepAliveMaxTimeout: LONGEST_IDLE_MS,
      // The caller has one clock for the whole attempt.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const lane: Lane = { agent, underWay: 0, end: undefined };
    lanes.set(eshopId, lane);
    return lane;
  }

  function endLater(eshopId: number, lane: Lane): void {
    lane.end = setTimeout(() => {
      lanes.delete(eshopId);
      void lane.agent.destroy();
    }, LONGEST_IDLE_MS).unref();
  }

  return {
    async use(eshopId, call) {
      const lane = laneOf(eshopId);
      clearTimeout(lane.end);
      lane.underWay += 1;
      try {
        return await call(lane.agent);
      } finally {
        lane.underWay -= 1;
        if (lane.underWay === 0) endLater(eshopId, lane);
      }
    },
    async destroy() {
      for (const lane of lanes.values()) clearTimeout(lane.end);
      await Promise.all([...lanes.values()].map(({ agent }) => agent.destroy()));
      lanes.clear();
    },
  };
}
