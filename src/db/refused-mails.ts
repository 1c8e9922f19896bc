/**
 * Deactivation mails that the mail server refuses for good.
 * @module
 */
import type { Sql } from './pool.ts';

/**
 * Records that the mail server refuses a mail for good, and gives the mail up once it has been refused for `patienceMs`,
 * by the database's clock.
 * @param error a sentence without addresses
 * @returns whether it is given up
 */
export async function recordMailRefused(
  sql: Sql,
  mail: { webhookId: number; generation: number; error: string; patienceMs: number },
): Promise<boolean> {
  const [row] = await sql<{ mailFailedAt: Date | null }[]>`
    update deactivations set mail_error = ${mail.error}, mail_refused_at = coalesce(mail_refused_at, now()),
      mail_failed_at = case
        when coalesce(mail_refused_at, now()) <= now() - ${mail.patienceMs} * interval '1 millisecond' then now() end
    where webhook_id = ${mail.webhookId} and generation = ${mail.generation} and mailed_at is null
    returning mail_failed_at`;
  return row?.mailFailedAt != null;
}
