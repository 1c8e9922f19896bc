/** Removes rows that belong to deliveries, recoveries and imports that are gone, and answers kept long enough. */
import type postgres from 'postgres';
import { idAt } from '../../domain/id-time.ts';
import type { Pool } from '../connection/pool.ts';
import { isOpen } from '../predicates.ts';
import { IMPORT_KEY_DAYS } from '../records/import-keys.ts';
import { STORED_RESPONSE_HOURS } from '../stored-responses.ts';
import type { Remove } from './pages.ts';

/**
 * Removes rows of deliveries and recoveries that are gone, the keys of lines imported long ago, and stored responses.
 * @param now by the database's clock
 * @param before deliveries created earlier are gone, except open ones
 * @returns how many
 */
export async function removeDependents(sql: Pool, now: Date, before: Date, remove: Remove) {
  const ago = (interval: postgres.Fragment) => sql`x.created_at < ${now}::timestamptz - ${interval}`;
  const importKeys = await remove('import_keys', ago(sql`make_interval(days => ${IMPORT_KEY_DAYS})`));
  // Each delivery is looked up (`offset 0`): a join might read all of them for one page.
  const redeliveries = sql`
    x.delivery_id < ${idAt(before)}::uuid
    and not exists (select from deliveries d where d.id = x.delivery_id offset 0)`;
  const recoveries = sql`
    x.finished_at < ${before} and not exists (
      select from deliveries d where d.recovery_id = x.id and ${isOpen(sql)} offset 0)`;
  let rows = await remove('redeliveries', redeliveries);
  rows += await remove('recoveries', recoveries);
  rows += await remove('stored_responses', ago(sql`make_interval(hours => ${STORED_RESPONSE_HOURS})`));
  // Settings that only attempts before this time used.
  rows += await remove('former_request_settings', sql`x.until < ${before}`);
  return { importKeys, rows };
}
