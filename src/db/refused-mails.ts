/**
 * Deactivation mails that the mail server refuses for good.
 * @module
 */
import type { Sql } from './pool.ts';

/**
 * Gives a refused mail up, once its deactivation is `patienceMs` old by the database's clock.
 * @param error a sentence without addresses
 * @returns false while there is time left: nothing is recorded then
 */
export async function recordMailRefused(
  sql: Sql,
  mail: { webhookId: number; generation: number; error: string; patienceMs: number },
): Promise<boolean> {
  const given = await sql`
    update deactivations set mail_failed_at = coalesce(mail_failed_at, now()), mail_error = ${mail.error}
    where webhook_id = ${mail.webhookId} and generation = ${mail.generation} and mailed_at is null
      and at <= now() - ${mail.patienceMs} * interval '1 millisecond'
    returning 1`;
  return given.length > 0;
}
