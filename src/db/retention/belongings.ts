/** Removes rows that belong to deliveries, recoveries and imports that are gone, and answers kept long enough. */
import type postgres from 'postgres';
import { idAt } from '../../domain/id-time.ts';
import type { Pool } from '../pool.ts';
import { deleteInPages, type RemovalStep } from './pages.ts';

/** Rows from before these times are no longer needed. */
interface Over {
  /** Deliveries created earlier are gone, except open ones. */
  readonly deliveries: Date;
  /** For the keys of imported lines. */
  readonly importKeys: Date;
  /** For the answers kept under an `Idempotency-Key`. */
  readonly keptAnswers: Date;
}

/**
 * Removes rows of deliveries and recoveries that are gone, the keys of lines imported long ago, and kept answers.
 * @param step called for each table
 * @param signal ends it early
 * @returns how many
 */
export async function removeBelongings(
  sql: Pool,
  over: Over,
  step: RemovalStep,
  signal?: AbortSignal,
): Promise<{ readonly importKeys: number; readonly rows: number }> {
  const remove = (table: string, where: postgres.Fragment) =>
    step(table, () => deleteInPages(sql, { table, where, signal }));
  const importKeys = await remove('import_keys', sql`x.created_at < ${over.importKeys}`);
  // Each delivery is looked up (`offset 0`): a join might read all of them for one page.
  const redeliveries = sql`
    x.delivery_id < ${idAt(over.deliveries)}::uuid
    and not exists (select from deliveries d where d.id = x.delivery_id offset 0)`;
  const recoveries = sql`
    x.finished_at < ${over.deliveries} and not exists (
      select from deliveries d where d.recovery_id = x.id and d.state in ('pending', 'retrying') offset 0)`;
  let rows = await remove('redeliveries', redeliveries);
  rows += await remove('recoveries', recoveries);
  rows += await remove('kept_answers', sql`x.created_at < ${over.keptAnswers}`);
  // Settings that only attempts before this time used.
  rows += await remove('former_request_settings', sql`x.until < ${over.deliveries}`);
  return { importKeys, rows };
}
