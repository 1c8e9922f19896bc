/** Records the outcome of a try in the row of its notice. */
import { counted, type Sql } from '../connection/pool.ts';
import { isPending } from './pending.ts';

export async function deferMail(sql: Sql, noticeId: string): Promise<void> {
  await sql`update notices set deferred = true where id = ${noticeId}`;
}

/**
 * Records why a mail was not sent, other than by a rejection: it is tried again, and the next rejection is the first.
 * @param message without addresses
 */
export async function recordMailError(sql: Sql, noticeId: string, message: string): Promise<void> {
  await sql`
    update notices set error = ${message}, refused_at = null where id = ${noticeId} and sent_at is null`;
}

/**
 * Records a permanent rejection by the mail server, and gives up once every try for `patienceMs` was rejected.
 * @param message without addresses
 * @returns whether it is given up
 */
export async function recordMailRejected(sql: Sql, noticeId: string, message: string, patienceMs: number) {
  const [row] = await sql<{ givenUpAt: Date | null }[]>`
    update notices set error = ${message}, refused_at = coalesce(refused_at, now()),
      failed_at = case
        when coalesce(refused_at, now()) <= now() - ${patienceMs} * interval '1 millisecond' then now() end
    where id = ${noticeId} and sent_at is null
    returning failed_at as given_up_at`;
  return row?.givenUpAt != null;
}

/**
 * How long ago a mail that is sent again may have been given up, in days. Less: it is lost where the address is
 * corrected after a holiday. More: its news is old.
 */
const SENT_AGAIN_DAYS = 7;

/**
 * Call this when an e-shop has got an address. Given-up mails to its own address become pending again; rejections of
 * the former address are forgotten. The relay starts their workflows, and the reconciler the workflow of the delivery
 * that mails a deactivation.
 * @returns how many were given up
 */
export async function sendMailsAgain(sql: Sql, eshopId: number): Promise<number> {
  return await counted(sql<{ count: number }[]>`
    with refused as (
      select n.id, n.failed_at is not null as given_up from notices n
      where n.eshop_id = ${eshopId} and n.recipient = 'email' and n.refused_at is not null and n.sent_at is null and n.dropped_at is null
        and coalesce(n.failed_at, now()) > now() - make_interval(days => ${SENT_AGAIN_DAYS})
        -- Without its delivery, which may be older than the retention, nothing mails a deactivation.
        and (n.kind <> 'deactivated' or exists (select from deliveries d where d.id = n.delivery_id))
      for update),
    again as (
      update notices n set refused_at = null, failed_at = null, error = null,
        check_at = case when r.given_up then n.at else n.check_at end
      from refused r where n.id = r.id returning r.given_up)
    select count(*) filter (where given_up)::int as count from again`);
}

export async function dropNotice(sql: Sql, id: string): Promise<void> {
  await sql`update notices n set dropped_at = now() where n.id = ${id} and ${isPending(sql)}`;
}

export async function recordNoticeSent(sql: Sql, id: string): Promise<void> {
  await sql`update notices n set sent_at = now(), tries = tries + 1 where n.id = ${id} and ${isPending(sql)}`;
}

/** Records a request that was not accepted. @param error without secrets @param givenUp no further try follows */
export async function recordTry(sql: Sql, id: string, error: string, givenUp: boolean): Promise<void> {
  await sql`
    update notices n set tries = tries + 1, error = ${error}, failed_at = case when ${givenUp} then now() end
    where n.id = ${id} and ${isPending(sql)}`;
}
