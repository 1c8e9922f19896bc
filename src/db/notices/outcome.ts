/** Records the outcome of a try in the row of its notice. */
import type { Sql } from '../pool.ts';
import { isPending } from './pending.ts';

export async function deferMail(sql: Sql, noticeId: string): Promise<void> {
  await sql`update notices set deferred = true where id = ${noticeId}`;
}

/** Records why it was not sent: it is tried again. @param message without addresses */
export async function recordMailError(sql: Sql, noticeId: string, message: string): Promise<void> {
  await sql`update notices set error = ${message} where id = ${noticeId} and sent_at is null`;
}

/**
 * Records a permanent rejection by the mail server, and gives up once rejected for `patienceMs`.
 * @param message without addresses
 * @returns whether it is given up
 */
export async function recordMailRejected(
  sql: Sql,
  noticeId: string,
  message: string,
  patienceMs: number,
): Promise<boolean> {
  const [row] = await sql<{ givenUpAt: Date | null }[]>`
    update notices set error = ${message}, refused_at = coalesce(refused_at, now()),
      failed_at = case
        when coalesce(refused_at, now()) <= now() - ${patienceMs} * interval '1 millisecond' then now() end
    where id = ${noticeId} and sent_at is null
    returning failed_at as given_up_at`;
  return row?.givenUpAt != null;
}

export async function dropNotice(sql: Sql, id: string): Promise<void> {
  await sql`update notices n set dropped_at = now() where n.id = ${id} and ${isPending(sql)}`;
}

/** Records that the recipient accepted it. */
export async function recordNoticeSent(sql: Sql, id: string): Promise<void> {
  await sql`update notices n set sent_at = now(), tries = tries + 1 where n.id = ${id} and ${isPending(sql)}`;
}

/**
 * Records a request that was not accepted.
 * @param error a sentence without secrets
 * @param givenUp no further try follows
 */
export async function recordTry(sql: Sql, id: string, error: string, givenUp: boolean): Promise<void> {
  await sql`
    update notices n set tries = tries + 1, error = ${error}, failed_at = case when ${givenUp} then now() end
    where n.id = ${id} and ${isPending(sql)}`;
}
