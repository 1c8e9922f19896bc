/** Records the outcome of a mail in the row of its notice. */
import type { Sql } from '../pool.ts';

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
