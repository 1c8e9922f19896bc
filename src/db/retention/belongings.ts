/** What belongs to deliveries, recoveries and imports that are gone. */
import { idAt } from '../../domain/id-time.ts';
import type { Pool } from '../pool.ts';
import { deleteInPages } from './pages.ts';

/**
 * Removes batches that began before a time and hold nothing.
 * @param signal ends it early
 * @returns how many rows
 */
export async function removeBatches(sql: Pool, before: Date, signal?: AbortSignal): Promise<number> {
  const where = sql`
    x.id < ${idAt(before)}::uuid and not exists (
      select from deliveries d where d.batch_id = x.id and d.state in ('pending', 'retrying') offset 0)`;
  return await deleteInPages(sql, { table: 'batches', where, signal });
}

/**
 * Removes rows of deliveries and recoveries that are gone.
 * @param before deliveries made earlier are gone, but for open ones
 * @param signal ends it early
 * @returns how many rows
 */
export async function removeBelongings(sql: Pool, before: Date, signal?: AbortSignal): Promise<number> {
  // Each delivery is looked up (`offset 0`): a join might read all of them for one page.
  const redeliveries = sql`
    x.delivery_id < ${idAt(before)}::uuid
    and not exists (select from deliveries d where d.id = x.delivery_id offset 0)`;
  const recoveries = sql`
    x.finished_at < ${before} and not exists (
      select from deliveries d where d.recovery_id = x.id and d.state in ('pending', 'retrying') offset 0)`;
  // The form of an attempt that was made before.
  const forms = sql`x.until < ${before}`;
  let removed = await deleteInPages(sql, { table: 'redeliveries', where: redeliveries, signal });
  removed += await deleteInPages(sql, { table: 'recoveries', where: recoveries, signal });
  return removed + (await deleteInPages(sql, { table: 'webhook_forms', where: forms, signal }));
}

/**
 * Forgets keys of lines imported before a time.
 * @param signal ends it early
 * @returns how many
 */
export async function forgetImportKeys(sql: Pool, before: Date, signal?: AbortSignal): Promise<number> {
  return await deleteInPages(sql, { table: 'import_keys', where: sql`x.created_at < ${before}`, signal });
}
