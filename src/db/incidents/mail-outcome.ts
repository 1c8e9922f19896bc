/** Records the outcome of a mail in its row. */
import type postgres from 'postgres';
import type { Sql } from '../pool.ts';

/** A deactivation, or a notice. */
export type MailKey =
  | { readonly webhookId: number; readonly generation: number }
  | { readonly noticeId: string };

interface MailRow {
  readonly table: postgres.Fragment;
  readonly is: postgres.Fragment;
  /** Its columns. */
  readonly mailed: postgres.Fragment;
  readonly refused: postgres.Fragment;
  readonly failed: postgres.Fragment;
  readonly error: postgres.Fragment;
}

function rowOf(sql: Sql, key: MailKey): MailRow {
  if ('noticeId' in key) {
    return {
      table: sql`notices`,
      is: sql`id = ${key.noticeId}`,
      mailed: sql`sent_at`,
      refused: sql`refused_at`,
      failed: sql`failed_at`,
      error: sql`error`,
    };
  }
  return {
    table: sql`deactivations`,
    is: sql`webhook_id = ${key.webhookId} and generation = ${key.generation}`,
    mailed: sql`mailed_at`,
    refused: sql`mail_refused_at`,
    failed: sql`mail_failed_at`,
    error: sql`mail_error`,
  };
}

export async function deferMail(sql: Sql, key: MailKey): Promise<void> {
  const { table, is } = rowOf(sql, key);
  await sql`update ${table} set deferred = true where ${is}`;
}

export async function recordMailed(sql: Sql, key: MailKey): Promise<void> {
  const { table, is, mailed } = rowOf(sql, key);
  await sql`update ${table} set ${mailed} = coalesce(${mailed}, now()) where ${is}`;
}

/** Records why it was not sent: it is tried again. @param message without addresses */
export async function recordMailError(sql: Sql, key: MailKey, message: string): Promise<void> {
  const { table, is, mailed, error } = rowOf(sql, key);
  await sql`update ${table} set ${error} = ${message} where ${is} and ${mailed} is null`;
}

/**
 * Records a permanent rejection by the mail server, and gives up once rejected for `patienceMs`.
 * @param message without addresses
 * @returns whether it is given up
 */
export async function recordMailRejected(
  sql: Sql,
  key: MailKey,
  message: string,
  patienceMs: number,
): Promise<boolean> {
  const { table, is, mailed, refused, failed, error } = rowOf(sql, key);
  const [row] = await sql<{ givenUpAt: Date | null }[]>`
    update ${table} set ${error} = ${message}, ${refused} = coalesce(${refused}, now()),
      ${failed} = case
        when coalesce(${refused}, now()) <= now() - ${patienceMs} * interval '1 millisecond' then now() end
    where ${is} and ${mailed} is null
    returning ${failed} as given_up_at`;
  return row?.givenUpAt != null;
}
