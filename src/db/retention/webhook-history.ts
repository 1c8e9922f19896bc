/**
 * Removes former versions, deactivations and notices of webhooks that are no longer needed. For every
 * event still kept, the explanation why it has no delivery (docs/interface.md, L9) stays word for word.
 */
import type postgres from 'postgres';
import { MEANWHILE_MS } from '../../domain/absence.ts';
import { idAt, timeOf } from '../../domain/id-time.ts';
import type { Pool } from '../connection/pool.ts';
import { MAX_DELETED_WEBHOOKS } from '../event-log.ts';
import { isOwnWarning } from '../notices/decide.ts';
import { isOpen } from '../predicates.ts';
import { inPages, type Remove } from './pages.ts';

/** Webhooks deleted by one statement: each is looked up in every table and partition. */
const WEBHOOKS = 1_000;
/** An explanation names changes that happened near its event; doubled, since times are rounded. */
const EXPLAINED_WITHIN_MS = 2 * MEANWHILE_MS;

/** The time from which the history of an e-shop is needed, as SQL. */
type LimitOf = (eshopId: postgres.Fragment) => postgres.Fragment;

/**
 * @param before events and deliveries made earlier are gone, except open ones
 * @returns how many rows (versions, deactivations and notices), and how many deleted webhooks that nothing refers to
 */
export async function removeHistory(sql: Pool, before: Date, remove: Remove) {
  const limitOf = await limits(sql, before);
  // In this order: a version and a notice need their deactivation, and everything needs its webhook.
  const versions = await remove('webhook_versions', replaced(sql, before, limitOf));
  const notices = await remove('notices', noticesOver(sql, before));
  const deactivations = await remove('deactivations', deactivationsOver(sql, before, limitOf));
  const unhealthy = await remove(
    'unhealthy_webhooks',
    sql`exists (select from webhooks w where w.id = x.webhook_id and w.deleted_at is not null)`,
  );
  await remove('notice_tokens', sql`x.expires_at < now()`);
  const webhooks = await remove('webhooks', purgeable(sql, before, limitOf), WEBHOOKS);
  return { rows: versions + deactivations + notices + unhealthy, webhooks };
}

/** An e-shop needs the history of its webhooks since its oldest event: an event delivered late is kept longer. */
async function limits(sql: Pool, before: Date): Promise<LimitOf> {
  const oldestEvents = await sql<{ eshopId: number; id: string }[]>`
    select distinct on (eshop_id) eshop_id, id from events
    where id < ${idAt(new Date(before.getTime() + EXPLAINED_WITHIN_MS))}::uuid order by eshop_id, id`;
  const eshopIds = oldestEvents.map(({ eshopId }) => eshopId);
  const times = oldestEvents.map(({ id }) =>
    new Date(timeOf(id).getTime() - EXPLAINED_WITHIN_MS).toISOString(),
  );
  return (eshopId) => sql`
    coalesce((
      select k.at::timestamptz from unnest(${eshopIds}::int[], ${times}::text[]) as k (eshop_id, at)
      where k.eshop_id = ${eshopId}), ${before}::timestamptz)`;
}

/**
 * Versions `x` replaced before the limit by a version that has their types. If the later version is active, or the
 * deletion, the earlier one explains nothing any more. If it is inactive, the earlier one still tells since when.
 */
function replaced(sql: Pool, before: Date, limitOf: LimitOf): postgres.Fragment {
  return sql`
    x.at < ${before} and exists (
      select from webhook_versions n join webhooks w on w.id = n.webhook_id
      where n.webhook_id = x.webhook_id and n.types @> x.types and (n.at, n.number) > (x.at, x.number)
        and (n.active or (n.deleted and w.deleted_at < ${limitOf(sql`w.eshop_id`)}))
        and n.at < ${limitOf(sql`w.eshop_id`)}
      offset 0)`;
}

/**
 * Deactivations `x` whose notices and delivery are gone. Two sorts are kept: the newest deactivation is part of the
 * webhook's record, and a deactivation that a version refers to tells why that version was inactive.
 */
function deactivationsOver(sql: Pool, before: Date, limitOf: LimitOf): postgres.Fragment {
  return sql`
    x.at < ${before} and not exists (
      select from notices n where n.webhook_id = x.webhook_id and n.kind = 'deactivated' and n.generation = x.generation offset 0)
    and not exists (select from deliveries d where d.id = x.delivery_id offset 0)
    and exists (
      select from webhooks w where w.id = x.webhook_id and (
        w.deleted_at < ${limitOf(sql`w.eshop_id`)}
        or (exists (select from deactivations n where n.webhook_id = x.webhook_id and n.generation > x.generation offset 0)
          and not exists (
            select from webhook_versions v
            where v.webhook_id = x.webhook_id and v.generation = x.generation and v.active = false and not v.deleted offset 0)))
      offset 0)`;
}

/**
 * Notices `x` that are settled. Those of a webhook that still fails are kept: their recipients will get the notice
 * of its recovery. So is the newest warning of the current generation: its e-shop has been warned of this incident.
 */
function noticesOver(sql: Pool, before: Date): postgres.Fragment {
  return sql`
    x.at < ${before} and x.settled_at < ${before}
    and not exists (
      select from unhealthy_webhooks a join webhooks w on w.id = a.webhook_id
      where a.webhook_id = x.webhook_id and x.at >= a.since and w.deleted_at is null offset 0)
    and (not (${isOwnWarning(sql)}) or x.outcome = 'dropped' or exists (
      select from webhooks w where w.id = x.webhook_id and (
        w.deleted_at is not null or w.generation > x.generation or exists (
          select from notices n
          where n.webhook_id = x.webhook_id and n.kind = x.kind and n.recipient = x.recipient and n.generation = x.generation
            and n.outcome is distinct from 'dropped' and (n.at, n.id) > (x.at, x.id) offset 0))
      offset 0))`;
}

/** Erases the secrets of webhooks deleted before a time: without open deliveries none signs. @returns of how many */
export async function eraseSecrets(sql: Pool, before: Date, signal?: AbortSignal): Promise<number> {
  return await inPages({ signal }, async (limit) => {
    const { count } = await sql`
      update webhooks
      set secret = '', previous_secret = null, previous_secret_until = null, headers = null, header_names = null
      where id = any(array(
        select x.id from webhooks x
        where x.deleted_at < ${before} and (x.secret <> '' or x.previous_secret is not null) and not exists (
          select from deliveries d where d.webhook_id = x.id and ${isOpen(sql)} offset 0)
        limit ${limit} for update skip locked))`;
    return count;
  });
}

/** Tables with rows of a webhook, except deliveries, changes to signal, and its versions, which go with it. */
export const TABLES_OF_WEBHOOKS = [
  'redeliveries',
  'recoveries',
  'deactivations',
  'failures',
  'former_request_settings',
  'notices',
  'unhealthy_webhooks',
];

/** Deleted webhooks `x` that nothing refers to. The last of each type stay, to explain events without delivery. */
function purgeable(sql: Pool, before: Date, limitOf: LimitOf): postgres.Fragment {
  const unreferred = ['deliveries', ...TABLES_OF_WEBHOOKS].map(
    (table) => sql`and not exists (select from ${sql(table)} r where r.webhook_id = x.id offset 0)`,
  );
  return sql`
    x.deleted_at < ${before} and x.deleted_at < ${limitOf(sql`x.eshop_id`)} ${unreferred}
    and not exists (select from changes_to_signal o where o.kind = 'webhookChanged' and o.webhook_id = x.id offset 0)
    and not exists (
      select from webhook_types t
      where t.webhook_id = x.id and not exists (
        select from webhook_types o join webhooks l on l.id = o.webhook_id
        where o.eshop_id = x.eshop_id and o.type = t.type and l.deleted_at > x.deleted_at
        offset ${MAX_DELETED_WEBHOOKS - 1})
      offset 0)`;
}
