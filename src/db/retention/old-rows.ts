/** Deletes old rows of a partition that cannot be dropped as a whole, in small batches: no lock is held for long. */
import { NIL } from 'uuid';
import { oneRow, type Pool } from '../connection/pool.ts';
import { isOpen } from '../predicates.ts';
import { transaction } from '../transaction.ts';
import { neededDeliveries } from './partitions.ts';

const BATCH = 1_000;

interface OldRows {
  /** The end of the partitions' names. */
  readonly week: string;
  /** Only rows written before this time, by the database's clock; null: all. */
  readonly writtenBefore: Date | null;
  /** Ends it early. */
  readonly signal?: AbortSignal | undefined;
}

/** @returns how many deliveries */
export async function removeDeliveries(sql: Pool, old: OldRows): Promise<number> {
  const { week, writtenBefore } = old;
  return await inBatches(old, (after) =>
    oneRow(sql<BatchRow[]>`
      with needed as materialized (${neededDeliveries(sql, week)}),
      found as materialized (
        select d.id,
               d.id not in (select id from needed)
                 and (${writtenBefore}::timestamptz is null or d.created_at < ${writtenBefore}) as done
        from ${sql(`deliveries_${week}`)} d
        where d.id > ${after}::uuid order by d.id limit ${BATCH}),
      removed as (
        delete from ${sql(`deliveries_${week}`)} d using found
        where d.id = found.id and found.done and not ${isOpen(sql)} returning d.id),
      with_them as (delete from ${sql(`attempts_${week}`)} a using removed where a.delivery_id = removed.id)
      select (select count(*)::int from removed) as removed,
             (select id from found order by id desc limit 1) as last`),
  );
}

/**
 * Removes events that no delivery needs. The needed ones are read only once, since that takes time; so each event is
 * locked, and checked for redeliveries made since.
 * @returns how many
 */
export async function removeEvents(sql: Pool, old: OldRows): Promise<number> {
  const events = sql(`events_${old.week}`);
  const rows = await sql<{ id: string }[]>`
    select e.id from (${neededDeliveries(sql)}) d join ${events} e on e.id = d.event_id`;
  const neededIds = new Set(rows.map(({ id }) => id));
  return await inBatches(old, async (after) => {
    const found = await sql<{ id: string }[]>`
      select id from ${events} where id > ${after}::uuid and created_at < coalesce(${old.writtenBefore}::timestamptz, 'infinity')
      order by id limit ${BATCH}`;
    const done = found.map(({ id }) => id).filter((id) => !neededIds.has(id));
    const count = await transaction(sql, async (tx) => {
      await tx`select from ${events} where id = any(${done}::uuid[]) order by id for update`;
      const removed = await tx`
        delete from ${events} e where id = any(${done}::uuid[]) and not exists (
          select from redeliveries r join deliveries d on d.id = r.delivery_id
          where r.event_id = e.id and ${isOpen(tx)})`;
      return removed.count;
    });
    return { removed: count, last: found.at(-1)?.id ?? null };
  });
}

interface BatchRow {
  readonly removed: number;
  /** null: no rows are left. */
  readonly last: string | null;
}

async function inBatches({ signal }: OldRows, remove: (after: string) => Promise<BatchRow>): Promise<number> {
  let removed = 0;
  for (let after: string | null = NIL; after !== null && signal?.aborted !== true; ) {
    const row: BatchRow = await remove(after);
    removed += row.removed;
    after = row.last;
  }
  return removed;
}
