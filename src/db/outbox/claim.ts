/** A claim of deliveries: what it may take, and what it found and took. */
import type { Sql } from '../pool.ts';
import { type QueuedDelivery, receiverHost } from './outbox.ts';

/** How much a claim may take. */
export interface ClaimLimits {
  /** Deliveries of this claim. */
  readonly limit: number;
  /**
   * Deliveries that are handed over and not yet attempted, by all relays together; default: not bounded. A few more for
   * e-shops that have none in flight.
   */
  readonly handedOver?: number;
  /** How far what waits is counted; default 0. */
  readonly countTo?: number;
  /** The batch that those claimed now belong to, unless they belong to one already; default: none. */
  readonly batchId?: string;
  /** True: of what recoveries created, unless they are paused; default: of everything else. */
  readonly recovered?: boolean;
  /** Deliveries whose first attempt has no result yet, this claim included; default: not bounded. */
  readonly inFlight?: InFlightLimits;
  /** So many in flight count as one turn taken; default 1. */
  readonly perTurn?: number;
}

/** How many first attempts may be in flight, from the claim on, until their result. */
export interface InFlightLimits {
  /** Of one webhook, to one host, of one e-shop. */
  readonly webhook: number;
  readonly host: number;
  readonly eshop: number;
  /** Of those about which more is known, by id and by `webhooks.host`. */
  readonly eshops: ReadonlyMap<number, number>;
  readonly webhooks: ReadonlyMap<number, number>;
  readonly hosts: ReadonlyMap<string, number>;
}

/** What a claim found and took. */
export interface Claim {
  readonly deliveries: readonly QueuedDelivery[];
  /** Deliveries that were handed over before this claim and have not been attempted yet. */
  readonly handedOver: number;
  /** How long the oldest of these has been waiting, in milliseconds; 0 where there is none. */
  readonly handOverMs: number;
  /** How long the oldest delivery that could be claimed has been waiting, in milliseconds; 0 where there was none. */
  readonly waitedMs: number;
  /** More could be claimed than was taken. */
  readonly more: boolean;
  /** Deliveries that waited before this claim of webhooks that may have more in flight, counted as far as asked for. */
  readonly waiting: number;
  /** More waits, of webhooks, hosts or e-shops that have as much in flight as they may. */
  readonly kept: boolean;
  /**
   * How long the oldest of these has been waiting, in milliseconds, where anything at all may be in flight; 0 where there
   * is none.
   */
  readonly keptMs: number;
}

const WITHOUT_END = 2 ** 31 - 1;
/** No bounds at all. */
export const UNBOUNDED: InFlightLimits = {
  webhook: WITHOUT_END,
  host: WITHOUT_END,
  eshop: WITHOUT_END,
  eshops: new Map(),
  webhooks: new Map(),
  hosts: new Map(),
};

/** A row of a statement that claims: what it found, in each, and one delivery that it took. */
export interface ClaimRow extends Omit<Claim, 'deliveries'>, Omit<QueuedDelivery, 'id'> {
  /** null where nothing was claimed. */
  readonly id: string | null;
}

/**
 * How long a delivery counts as handed over, in seconds. One that has not been attempted by then waits for something of
 * its own (an operator paused it), and holds nobody up.
 */
const HAND_OVER_SECONDS = 60;

/** Of a delivery `d`: it was handed over within the time for which it counts as handed over. */
export const handedOverLately = (sql: Sql) =>
  sql`d.dispatched_at > now() - make_interval(secs => ${HAND_OVER_SECONDS})`;

/** Of a delivery `d`: nobody holds a lease on it. */
export const unclaimed = (sql: Sql) => sql`(d.claimed_until is null or d.claimed_until < now())`;

/** Of a delivery `d`: it waits to be handed over. */
export const waits = (sql: Sql) => sql`d.dispatched_at is null and d.handed_back_at is null`;

/** Of a delivery `d` that is claimed: what a statement returns of it, for {@link claimedColumns}. */
export const returned = (sql: Sql) =>
  sql`d.id, d.eshop_id, d.webhook_id, d.event_type, d.entity_id, d.batch_id, d.traceparent`;

/** The columns of {@link ClaimRow} that tell of a delivery, of what is `claimed`. */
export const claimedColumns = (sql: Sql) => sql`
           claimed.id, claimed.eshop_id, claimed.webhook_id, claimed.event_type, claimed.entity_id, claimed.batch_id, claimed.traceparent,
           ${receiverHost(sql, sql`claimed.webhook_id`)}`;

/** What the rows of a claim say together. */
export function claimOf(rows: readonly ClaimRow[]): Claim {
  const [first] = rows;
  const deliveries = rows.flatMap((row) => {
    const { id, eshopId, webhookId, eventType, entityId, receiverHost: host, batchId: batch } = row;
    const delivery = { eshopId, webhookId, eventType, entityId, receiverHost: host, batchId: batch };
    return id === null ? [] : [{ id, ...delivery, traceparent: row.traceparent }];
  });
  return {
    deliveries,
    handedOver: first?.handedOver ?? 0,
    handOverMs: first?.handOverMs ?? 0,
    waitedMs: first?.waitedMs ?? 0,
    more: first?.more ?? false,
    waiting: first?.waiting ?? 0,
    kept: first?.kept ?? false,
    keptMs: first?.keptMs ?? 0,
  };
}
