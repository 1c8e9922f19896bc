/**
 * Deliveries on their way to Temporal. Rows are claimed under a lease: a relay that dies leaves them to the next.
 */
import type postgres from 'postgres';
import type { EventType } from '../../domain/event-types.ts';
import { anyOf } from '../ids.ts';
import type { Sql } from '../pool.ts';

/**
 * How long a claimed row is left alone, in seconds, unless the claim is renewed: what a killed relay had claimed waits
 * this long.
 */
export const LEASE_SECONDS = 5;
/** How long a delivery that Temporal refused to start is left alone, in seconds. */
const REFUSED_SECONDS = 30;

/** The classes of deliveries that wait, as `deliveries.queue` has them. */
export const QUEUE = {
  /** Its first attempt is due. */
  fresh: 0,
  /** Requeued by a batch: its next attempt is due within a minute, whichever class it was of before. */
  retry: 1,
  /** Written by an import. */
  bulk: 2,
  /** Created by a recovery. */
  recovered: 3,
  /** Requeued by a batch, and no attempt is due within a minute: it needs its workflow. */
  workflow: 4,
} as const;
export type Queue = (typeof QUEUE)[keyof typeof QUEUE];

/** A delivery to be started. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly eshopId: number;
  readonly webhookId: number;
  readonly eventType: EventType;
  readonly entityId: string;
  /** The host that its webhook's URL names at present; null where it names none. */
  readonly receiverHost: string | null;
  /** The place in a trace that it comes from; null where there is none, absent where nobody asks. */
  readonly traceparent?: string | null;
}

export interface QueuedDelivery extends ClaimedDelivery {
  /** The batch that makes its next attempt; null: its own workflow does. */
  readonly batchId: string | null;
  readonly traceparent: string | null;
  /** 0 where it could not be attempted. */
  readonly attemptsMade: number;
  readonly lastAttemptAt: Date | null;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  readonly nextAttemptAt: Date | null;
}

/** When a lease that begins or is renewed now ends, as SQL. */
export function leaseEnd(sql: Sql) {
  return sql`now() + make_interval(secs => ${LEASE_SECONDS})`;
}

/** The `receiverHost` of a delivery to this webhook, as SQL. */
export function receiverHost(sql: Sql, webhookId: postgres.Fragment) {
  return sql`(select host from webhooks where id = ${webhookId}) as receiver_host`;
}

/** Records that Temporal has these deliveries: the lasting guard against a second start. */
export async function markDispatched(sql: Sql, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`update deliveries set dispatched_at = now(), claimed_until = null where ${anyOf(sql, sql`id`, ids)}`;
}

/** Renews the claim on those of them that are still claimed. */
export async function renewDeliveries(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql`
    update deliveries set claimed_until = ${leaseEnd(sql)}
    where ${anyOf(sql, sql`id`, ids)} and dispatched_at is null and claimed_until is not null`;
}

/** Leaves deliveries alone that Temporal refused to start: they are tried again, and stop nobody until then. */
export async function setAsideDeliveries(sql: Sql, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    update deliveries set claimed_until = now() + make_interval(secs => ${REFUSED_SECONDS})
    where ${anyOf(sql, sql`id`, ids)} and dispatched_at is null`;
}

/** Releases claimed deliveries whose start failed: they can be claimed again at once. */
export async function releaseDeliveries(sql: Sql, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`update deliveries set claimed_until = null where ${anyOf(sql, sql`id`, ids)} and dispatched_at is null`;
}
