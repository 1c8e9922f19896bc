/**
 * Changes that workflows under way must look at: written in the transaction of the change, made known by the relay.
 */
import { type Transaction, wakeRelayAfter } from '../transaction.ts';
import { enqueueRecoveriesOf } from './recovery-changes.ts';

/**
 * A webhook was activated, deactivated, deleted, or has another URL: its open deliveries and its recoveries must look at it.
 * A change that is still being passed on takes this one with it: it goes on where it is, and then once round.
 * @param tx holds the lock on the webhook's row
 */
export async function enqueueWebhookChange(
  tx: Transaction,
  eshopId: number,
  webhookId: number,
): Promise<void> {
  wakeRelayAfter(tx, 'webhooks');
  await enqueueRecoveriesOf(tx, webhookId);
  const joined = await tx`
    update outbox set version = version + 1, until_id = null, again_until_id = told_id, due_at = now()
    where kind = 'webhookChanged' and webhook_id = ${webhookId}`;
  if (joined.count > 0) return;
  await tx`insert into outbox (kind, eshop_id, webhook_id) values ('webhookChanged', ${eshopId}, ${webhookId})`;
}

/** By when the timer of a pre-order is to be set at the latest, in seconds before it is due. */
const SET_BEFORE_SECONDS = 60;

/**
 * A pre-order is due at another time, or no longer: its timer must be set, moved or ended.
 * @param releaseAt when it is due now, ISO 8601; null: no longer
 */
export async function enqueueReleaseChange(
  tx: Transaction,
  eshopId: number,
  eshopOrderId: string,
  releaseAt: string | null = null,
): Promise<void> {
  wakeRelayAfter(tx, 'releases');
  await tx`
    insert into outbox (kind, eshop_id, eshop_order_id, due_at)
    values ('orderReleaseChanged', ${eshopId}, ${eshopOrderId},
      greatest(now(), ${releaseAt}::timestamptz - make_interval(secs => ${SET_BEFORE_SECONDS})))`;
}
