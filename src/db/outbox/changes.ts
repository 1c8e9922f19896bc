/**
 * Changes that running workflows must react to. Each is written in the transaction that makes it, and passed on by
 * the relay. A change to a webhook is passed on page by page, and its row stores the progress: if a relay dies,
 * another relay goes on from there.
 */
import { NIL } from 'uuid';
import type { Sql } from '../connection/pool.ts';
import { isOpen, seconds } from '../predicates.ts';
import { type Transaction, wakeRelayAfter } from '../transaction.ts';
import { inTurns } from './in-turns.ts';
import { type DeliveryIdentity, leaseEnd, unclaimed } from './outbox.ts';
import { enqueueRecoveriesOf } from './recovery-changes.ts';

/**
 * Call this when a webhook was activated, deactivated or deleted, got another URL, or ends its pause sooner: its open
 * deliveries and recoveries must react. At most one change waits behind the change that is under way. The waiting one
 * covers all further changes until it begins itself.
 * @param tx holds the lock on the webhook's row
 * @param orderingOnly after a pause has begun: deliveries of its records to other webhooks may go on, and no workflow
 * has to react
 */
export async function enqueueWebhookChange(
  tx: Transaction,
  eshopId: number,
  webhookId: number,
  { orderingOnly = false } = {},
): Promise<void> {
  wakeRelayAfter(tx, 'webhooks');
  if (!orderingOnly) await enqueueRecoveriesOf(tx, webhookId);
  // Locked: the relay that passes it on reads the webhook after this transaction.
  const waiting = await tx`
    select from changes_to_signal
    where kind = 'webhookChanged' and webhook_id = ${webhookId} and signaled_id is null and claimed_until is null
      and ordering_only = ${orderingOnly}
    for update`;
  if (waiting.length > 0) return;
  await tx`
    insert into changes_to_signal (kind, eshop_id, webhook_id, ordering_only)
    values ('webhookChanged', ${eshopId}, ${webhookId}, ${orderingOnly})`;
}

/** A change to a webhook, to be passed on to its open deliveries. */
export interface WebhookChange {
  readonly id: string;
  readonly eshopId: number;
  readonly webhookId: number;
  /** The last delivery that was signaled; the nil UUID if none was; null if the change has not begun. */
  readonly signaledId: string | null;
  /** The webhook is active: each delivery that is signaled makes an attempt. */
  readonly wakes: boolean;
  readonly deleted: boolean;
  /** The change only requires the orderings of the e-shop's records to be settled. */
  readonly orderingOnly: boolean;
}

/** The changes `o` of one kind. */
const changesOf = (sql: Sql, kind: 'webhookChanged' | 'orderReleaseChanged') =>
  ({ table: 'changes_to_signal', which: sql`o.kind = ${kind}`, dueAt: sql`o.due_at` }) as const;

/** Claims up to `limit` changes to webhooks, in turn by e-shop, and of each webhook only the oldest. */
export async function claimWebhookChanges(sql: Sql, limit: number): Promise<WebhookChange[]> {
  const oldest = sql`not exists (
    select from changes_to_signal older
    where older.kind = 'webhookChanged' and older.webhook_id = o.webhook_id and older.id < o.id)`;
  const claimable = sql`${unclaimed(sql, 'o')} and ${oldest}`;
  const claimed = await sql<{ id: string }[]>`
    with ${inTurns(sql, limit, { ...changesOf(sql, 'webhookChanged'), claimable })}
    update changes_to_signal o set claimed_until = ${leaseEnd(sql)}
    from chosen where o.id = chosen.id
    returning o.id`;
  if (claimed.length === 0) return [];
  // In a separate statement: a change that the row covers may have been committed after the claim's snapshot.
  return await sql<WebhookChange[]>`
    select o.id, o.eshop_id, o.webhook_id, o.signaled_id, o.ordering_only,
      w.active and w.deleted_at is null as wakes, w.deleted_at is not null as deleted
    from changes_to_signal o join webhooks w on w.id = o.webhook_id
    where o.id = any(${claimed.map(({ id }) => id)}::bigint[])`;
}

/** An open delivery to signal about a change. */
export type SignaledDelivery = Omit<DeliveryIdentity, 'eshopId' | 'receiverHost'>;

/** The next open deliveries to signal, by id: their workflows may have read the webhook before the change. */
export async function nextToSignal(sql: Sql, change: WebhookChange, limit: number) {
  return await sql<SignaledDelivery[]>`
    select d.id, d.webhook_id, d.event_type, d.entity_id from deliveries d
    where d.webhook_id = ${change.webhookId} and ${isOpen(sql)}
      and d.dispatched_at is not null
      and d.id > ${change.signaledId ?? NIL}::uuid
    order by d.id limit ${limit}`;
}

/** Notes that a change has begun to be passed on. @returns its progress */
export async function markStarted(sql: Sql, id: string): Promise<string> {
  await sql`update changes_to_signal set signaled_id = ${NIL} where id = ${id}`;
  return NIL;
}

/** Notes the progress of a change, and gives the change back, behind the waiting ones. */
export async function saveProgress(sql: Sql, id: string, signaledId: string): Promise<void> {
  await sql`update changes_to_signal set claimed_until = null, due_at = now(), signaled_id = ${signaledId} where id = ${id}`;
}

/** How long before a pre-order is due its timer must have been set, in seconds. */
const SET_BEFORE_SECONDS = 60;

/**
 * Call this when a pre-order's release time has changed or no longer exists: its timer must be set, moved or ended.
 * @param releaseAt when the pre-order is due now, ISO 8601; null: no longer due
 */
export async function enqueueReleaseChange(
  tx: Transaction,
  eshopId: number,
  eshopOrderId: string,
  releaseAt: string | null = null,
): Promise<void> {
  wakeRelayAfter(tx, 'releases');
  await tx`
    insert into changes_to_signal (kind, eshop_id, eshop_order_id, due_at)
    values ('orderReleaseChanged', ${eshopId}, ${eshopOrderId},
      greatest(now(), ${releaseAt}::timestamptz - ${seconds(tx, SET_BEFORE_SECONDS)}))`;
}

/** Claims up to `limit` changes to pre-orders' releases, in turn by e-shop: each is to be passed on to its timer. */
export async function claimReleaseChanges(sql: Sql, limit: number) {
  return await sql<{ id: string; eshopId: number; eshopOrderId: string }[]>`
    with ${inTurns(sql, limit, { ...changesOf(sql, 'orderReleaseChanged'), claimable: unclaimed(sql, 'o') })}
    update changes_to_signal o set claimed_until = ${leaseEnd(sql)}
    from chosen where o.id = chosen.id
    returning o.id, o.eshop_id, o.eshop_order_id`;
}

/** Removes changes that have been passed on. */
export async function removeChanges(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql`delete from changes_to_signal where id = any(${[...ids]}::bigint[])`;
}
