/** Records the outcome of a try in the row of its notice. */
import type postgres from 'postgres';
import { counted, type Sql } from '../connection/pool.ts';
import { isPending } from './pending.ts';

/**
 * Records why a mail failed without a rejection: it is tried again, and the next rejection counts as the first.
 * @param message without addresses
 */
export async function recordMailError(sql: Sql, noticeId: string, message: string): Promise<void> {
  await sql`
    update notices n set error = ${message}, refused_at = null where n.id = ${noticeId} and ${isPending(sql)}`;
}

/**
 * Records a permanent rejection by the mail server, and gives up once every try for `patienceMs` was rejected.
 * @param message without addresses
 * @returns whether it is given up
 */
export async function recordMailRejected(sql: Sql, noticeId: string, message: string, patienceMs: number) {
  const givenUp = sql`coalesce(refused_at, now()) <= now() - ${patienceMs} * interval '1 millisecond'`;
  const [row] = await sql<{ settled: boolean }[]>`
    update notices n set error = ${message}, refused_at = coalesce(refused_at, now()), ${giveUpIf(sql, givenUp)}
    where n.id = ${noticeId} and ${isPending(sql)}
    returning outcome is not null as settled`;
  return row?.settled === true;
}

/**
 * How long after it was given up a mail may be sent again, in days. Too low: it is lost if the address is corrected
 * after a holiday. Too high: it is out of date.
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
      select n.id, n.outcome is not null as given_up from notices n
      where n.eshop_id = ${eshopId} and n.recipient = 'email' and n.refused_at is not null
        and coalesce(n.outcome, 'givenUp') = 'givenUp'
        and coalesce(n.settled_at, now()) > now() - make_interval(days => ${SENT_AGAIN_DAYS})
        -- Without its delivery, which may be older than the retention, nothing mails a deactivation.
        and (n.kind <> 'deactivated' or exists (select from deliveries d where d.id = n.delivery_id))
      for update),
    again as (
      update notices n set refused_at = null, outcome = null, settled_at = null, error = null,
        check_at = case when r.given_up then n.at else n.check_at end
      from refused r where n.id = r.id returning r.given_up)
    select count(*) filter (where given_up)::int as count from again`);
}

export async function dropNotice(sql: Sql, id: string): Promise<void> {
  await sql`update notices n set outcome = 'dropped', settled_at = now() where n.id = ${id} and ${isPending(sql)}`;
}

export async function recordNoticeSent(sql: Sql, id: string): Promise<void> {
  await sql`
    update notices n set outcome = 'sent', settled_at = now(), tries = tries + 1
    where n.id = ${id} and ${isPending(sql)}`;
}

const giveUpIf = (sql: Sql, condition: postgres.Fragment) => sql`
  outcome = case when ${condition} then 'givenUp' end, settled_at = case when ${condition} then now() end`;

/** Records a request that was not accepted. @param error without secrets @param givenUp no further try follows */
export async function recordTry(sql: Sql, id: string, error: string, givenUp: boolean): Promise<void> {
  await sql`
    update notices n set tries = tries + 1, error = ${error}, ${giveUpIf(sql, sql`${givenUp}::boolean`)}
    where n.id = ${id} and ${isPending(sql)}`;
}
