/** Decides who gets which notice about a webhook (docs/interface.md, N5, N8), in the transaction that causes it. */
import type { Sql } from '../connection/pool.ts';
import { joinSuccessor } from '../outbox/ordering.ts';
import { isOpen } from '../predicates.ts';

/** The recipients of an e-shop `s` besides its own address, which gets one notice even if it is named again. */
const further = (sql: Sql) => sql`
  select 'address' as recipient, a.id as address_id from notice_addresses a
  where a.eshop_id = s.id and a.confirmed_at is not null and lower(a.address) <> lower(s.email)
  union all
  select 'url', null where s.notice_url is not null`;

const recipients = (sql: Sql) => sql`
  select 'email' as recipient, null::integer as address_id union all ${further(sql)}`;

/** A notice `x` that warns the e-shop's own address: one for each warning. */
export const isOwnWarning = (sql: Sql) => sql`x.kind = 'warning' and x.recipient = 'email'`;

/** A notice `x` that tells the e-shop's own address of a deactivation: the workflow of its delivery mails it. */
export const isOwnDeactivation = (sql: Sql) => sql`x.kind = 'deactivated' and x.recipient = 'email'`;

/** Adds the notices for the further recipients. @param warnings the ids of those for the e-shop's own address */
export async function addWarningNotices(tx: Sql, warnings: readonly string[]): Promise<void> {
  if (warnings.length === 0) return;
  await tx`
    insert into unhealthy_webhooks (webhook_id, since, delivery_id)
    select distinct on (x.webhook_id) x.webhook_id, x.at, x.delivery_id
    from notices x where x.id = any(${[...warnings]}::uuid[]) order by x.webhook_id, x.delivery_id nulls first
    on conflict (webhook_id) do update
    set delivery_id = case when unhealthy_webhooks.delivery_id is not null then excluded.delivery_id end`;
  await tx`
    insert into notices (eshop_id, webhook_id, kind, generation, delivery_id, recipient, address_id)
    select s.id, x.webhook_id, 'warning', x.generation, x.delivery_id, r.recipient, r.address_id
    from notices x join eshops s on s.id = x.eshop_id cross join lateral (${further(tx)}) r
    where x.id = any(${[...warnings]}::uuid[])`;
}

/** A webhook that Waybill deactivated. */
export async function addDeactivationNotices(
  tx: Sql,
  deactivated: { readonly webhookId: number; readonly generation: number; readonly deliveryId: string },
): Promise<void> {
  const { webhookId, generation, deliveryId } = deactivated;
  await tx`
    insert into unhealthy_webhooks (webhook_id, since) values (${webhookId}, now())
    on conflict (webhook_id) do update set delivery_id = null`;
  await tx`
    insert into notices (eshop_id, webhook_id, kind, generation, delivery_id, recipient, address_id)
    select s.id, w.id, 'deactivated', ${generation}, ${deliveryId}::uuid, r.recipient, r.address_id
    from webhooks w join eshops s on s.id = w.eshop_id cross join lateral (${recipients(tx)}) r
    where w.id = ${webhookId}`;
}

/**
 * Unhealthy webhooks that have recovered: one accepted delivery suffices, but if only one delivery failed, it has to
 * be that delivery. A recipient that got no notice of the failure gets none of the recovery; this is decided when
 * the notice is due.
 * @returns how many notices
 */
export async function addRecoveryNotices(tx: Sql): Promise<number> {
  // Usually none is unhealthy, and the planner expects thousands.
  if ((await tx`select from unhealthy_webhooks limit 1`).length === 0) return 0;
  const { count } = await tx`
    with whole as (
      select a.webhook_id, min(f.until) as at
      from failures f
      join unhealthy_webhooks a on a.webhook_id = f.webhook_id and a.delivery_id is null and f.until > a.since
      join webhooks w on w.id = f.webhook_id and w.generation = f.generation and w.active and w.deleted_at is null
      where f.failures = 0 group by 1),
    single as (
      select a.webhook_id, case when d.state = 'delivered' then d.finished_at end as at
      from unhealthy_webhooks a ${joinSuccessor(tx, tx`a.delivery_id`)}
      where a.delivery_id is not null and (d.id is null or not ${isOpen(tx)})),
    over as (
      delete from unhealthy_webhooks a using (select * from whole union all select * from single) e
      where a.webhook_id = e.webhook_id returning a.webhook_id, a.since, e.at)
    insert into notices (eshop_id, webhook_id, kind, unhealthy_since, recovered_at, recipient, address_id)
    select s.id, w.id, 'recovered', o.since, o.at, r.recipient, r.address_id
    from over o join webhooks w on w.id = o.webhook_id join eshops s on s.id = w.eshop_id and s.recovered_notices
    cross join lateral (${recipients(tx)}) r
    where o.at is not null`;
  return count;
}

/** Whether a webhook waits for the end of one delivery. */
export const unhealthyByOneDelivery = (sql: Sql) =>
  sql`select from unhealthy_webhooks where delivery_id is not null`;
