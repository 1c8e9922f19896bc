/** Records the outcome of a mail, in the row that owes it. */
import type { Sql } from '../pool.ts';

/** A deactivation or a warning. */
export type OwesMail =
  | { readonly webhookId: number; readonly generation: number }
  | { readonly id: string; readonly generation?: never };

function rowOf(sql: Sql, owes: OwesMail) {
  return owes.generation === undefined
    ? { table: sql('warnings'), is: sql`id = ${owes.id}` }
    : {
        table: sql('deactivations'),
        is: sql`webhook_id = ${owes.webhookId} and generation = ${owes.generation}`,
      };
}

export async function putOffMail(sql: Sql, owes: OwesMail): Promise<void> {
  const { table, is } = rowOf(sql, owes);
  await sql`update ${table} set put_off = true where ${is}`;
}

export async function recordMailed(sql: Sql, owes: OwesMail): Promise<void> {
  const { table, is } = rowOf(sql, owes);
  await sql`update ${table} set mailed_at = coalesce(mailed_at, now()) where ${is}`;
}

/** Records why it was not sent: it is tried again. @param error without addresses */
export async function recordMailError(sql: Sql, owes: OwesMail, error: string): Promise<void> {
  const { table, is } = rowOf(sql, owes);
  await sql`update ${table} set mail_error = ${error} where ${is} and mailed_at is null`;
}

/**
 * Records a permanent refusal by the mail server, and gives up once refused for `patienceMs`.
 * @param error without addresses
 * @returns whether it is given up
 */
export async function recordMailRefused(
  sql: Sql,
  owes: OwesMail,
  error: string,
  patienceMs: number,
): Promise<boolean> {
  const { table, is } = rowOf(sql, owes);
  const [row] = await sql<{ mailFailedAt: Date | null }[]>`
    update ${table} set mail_error = ${error}, mail_refused_at = coalesce(mail_refused_at, now()),
      mail_failed_at = case
        when coalesce(mail_refused_at, now()) <= now() - ${patienceMs} * interval '1 millisecond' then now() end
    where ${is} and mailed_at is null
    returning mail_failed_at`;
  return row?.mailFailedAt != null;
}
