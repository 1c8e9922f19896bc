/** Records the outcome of a mail, in the row that owes it. */
import type postgres from 'postgres';
import type { Sql } from '../pool.ts';

/** A deactivation, a warning, or a notice. */
export type OwesMail =
  | { readonly webhookId: number; readonly generation: number }
  | { readonly id: string; readonly generation?: never }
  | { readonly noticeId: string; readonly generation?: never; readonly id?: never };

interface OwingRow {
  readonly table: postgres.Fragment;
  readonly is: postgres.Fragment;
  /** Its columns. */
  readonly mailed: postgres.Fragment;
  readonly refused: postgres.Fragment;
  readonly failed: postgres.Fragment;
  readonly error: postgres.Fragment;
}

function rowOf(sql: Sql, owes: OwesMail): OwingRow {
  if ('noticeId' in owes) {
    return {
      table: sql`notices`,
      is: sql`id = ${owes.noticeId}`,
      mailed: sql`sent_at`,
      refused: sql`refused_at`,
      failed: sql`failed_at`,
      error: sql`error`,
    };
  }
  const columns = {
    mailed: sql`mailed_at`,
    refused: sql`mail_refused_at`,
    failed: sql`mail_failed_at`,
    error: sql`mail_error`,
  };
  return owes.generation === undefined
    ? { ...columns, table: sql`warnings`, is: sql`id = ${owes.id}` }
    : {
        ...columns,
        table: sql`deactivations`,
        is: sql`webhook_id = ${owes.webhookId} and generation = ${owes.generation}`,
      };
}

export async function putOffMail(sql: Sql, owes: OwesMail): Promise<void> {
  const { table, is } = rowOf(sql, owes);
  await sql`update ${table} set put_off = true where ${is}`;
}

export async function recordMailed(sql: Sql, owes: OwesMail): Promise<void> {
  const { table, is, mailed } = rowOf(sql, owes);
  await sql`update ${table} set ${mailed} = coalesce(${mailed}, now()) where ${is}`;
}

/** Records why it was not sent: it is tried again. @param message without addresses */
export async function recordMailError(sql: Sql, owes: OwesMail, message: string): Promise<void> {
  const { table, is, mailed, error } = rowOf(sql, owes);
  await sql`update ${table} set ${error} = ${message} where ${is} and ${mailed} is null`;
}

/**
 * Records a permanent refusal by the mail server, and gives up once refused for `patienceMs`.
 * @param message without addresses
 * @returns whether it is given up
 */
export async function recordMailRefused(
  sql: Sql,
  owes: OwesMail,
  message: string,
  patienceMs: number,
): Promise<boolean> {
  const { table, is, mailed, refused, failed, error } = rowOf(sql, owes);
  const [row] = await sql<{ givenUpAt: Date | null }[]>`
    update ${table} set ${error} = ${message}, ${refused} = coalesce(${refused}, now()),
      ${failed} = case
        when coalesce(${refused}, now()) <= now() - ${patienceMs} * interval '1 millisecond' then now() end
    where ${is} and ${mailed} is null
    returning ${failed} as given_up_at`;
  return row?.givenUpAt != null;
}
