/**
 * The partitions of events, deliveries and attempts: one per week and table, by the time in the id, so that a lookup
 * by id reads one. A default partition takes ids from a clock that is far off.
 */
import { idAt, timeOf } from '../../domain/id-time.ts';
import { WEEK_MS, weekName } from '../../domain/weeks.ts';
import { databaseTime } from '../clock.ts';
import { counted, type Pool } from '../connection/pool.ts';
import { isPendingMail } from '../notices/pending.ts';
import { isOpen } from '../predicates.ts';
import type { Transaction } from '../transaction.ts';
import { schemaStep } from './schema-step.ts';

/** The partitioned tables, with the column that determines the partition; in the order in which a week is dropped. */
const KEYS = { deliveries: 'id', attempts: 'delivery_id', events: 'id' } as const;
type PartitionedTable = keyof typeof KEYS;
/** All of them, in the order in which a week is dropped: a delivery goes before the rows that belong to it. */
export const partitionedTables = Object.keys(KEYS) as PartitionedTable[];

/** The end of a default partition's name. */
export const DEFAULT = 'default';

export interface Partition {
  /** The end of its name, after that of the table: its first day, `first` or `default`. */
  readonly week: string;
  readonly table: PartitionedTable;
  /** Its ids are of this time or later; null without this bound. */
  readonly from: Date | null;
  /** Its ids are of earlier times than this; null for the default partition. */
  readonly until: Date | null;
  /** An estimate. */
  readonly rows: number;
}

/** After every week. */
const NEVER = new Date(8.64e15);

/** The end of the last week of the table that is furthest behind; null if there are none. */
export function oldestWeek(weeks: readonly Partition[]): Date | null {
  const ends = new Map<string, number>();
  for (const { table, until } of weeks) {
    ends.set(table, Math.max(ends.get(table) ?? 0, until?.getTime() ?? 0));
  }
  return ends.size === 0 ? null : new Date(Math.min(...ends.values()));
}

/**
 * Reads how far the partitions reach, by the database's clock.
 * @returns `since`: older weeks have been dropped, null if all are still there; `until`: every table has partitions
 * up to here; `aheadSeconds`: from now until then, negative if they have run out
 */
export async function readPartitions(sql: Pool) {
  const [partitions, now] = [await listPartitions(sql), await databaseTime(sql)];
  const weeks = partitions.filter(({ week }) => week !== DEFAULT);
  const until = oldestWeek(weeks) ?? now;
  return { since: weeks[0]?.from ?? null, until, aheadSeconds: (until.getTime() - now.getTime()) / 1_000 };
}

/** All partitions, the oldest first, the default ones last, and within a week in the order in which they go. */
export async function listPartitions(sql: Pool): Promise<Partition[]> {
  const rows = await sql<{ parent: PartitionedTable; name: string; bound: string; rows: number }[]>`
    select p.relname as parent, c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound,
           greatest(c.reltuples, 0)::float8 as rows
    from pg_inherits i join pg_class p on p.oid = i.inhparent join pg_class c on c.oid = i.inhrelid
    where i.inhparent = any(${partitionedTables}::regclass[])`;
  return rows
    .map(({ parent, name, bound, rows }) => {
      const bounds = (word: string) => new RegExp(`${word} \\('([0-9a-f-]{36})'\\)`).exec(bound)?.[1];
      const [from, until] = [bounds('FROM'), bounds('TO')];
      return {
        week: name.slice(parent.length + 1),
        table: parent,
        from: from === undefined ? null : timeOf(from),
        until: until === undefined ? null : timeOf(until),
        rows,
      };
    })
    .sort(
      (a, b) =>
        (a.until ?? NEVER).getTime() - (b.until ?? NEVER).getTime() ||
        partitionedTables.indexOf(a.table) - partitionedTables.indexOf(b.table),
    );
}

/** Makes the partitions of a week, and moves its rows out of the default partitions. @returns how many were moved */
export async function makeWeek(sql: Pool, week: Date): Promise<number> {
  return await schemaStep(sql, async (tx) => {
    let moved = 0;
    for (const table of partitionedTables) moved += await makePartition(tx, table, week);
    return moved;
  });
}

async function makePartition(tx: Transaction, table: PartitionedTable, week: Date): Promise<number> {
  const name = `${table}_${weekName(week)}`;
  if (await tableExists(tx, name)) return 0;
  const [from, to] = [idAt(week), idAt(new Date(week.getTime() + WEEK_MS))];
  // Made separately and then attached: traffic goes on, except for reads of the default partition.
  await tx`create table ${tx(name)} (like ${tx(table)} including all)`;
  // `like` does not copy which columns have no statistics. Before Postgres 17, system columns and dropped ones have
  // this 0 too, and cannot be altered.
  const columns = await tx<{ name: string }[]>`
    select attname as name from pg_attribute
    where attrelid = ${table}::regclass and attstattarget = 0 and attnum > 0 and not attisdropped`;
  for (const column of columns)
    await tx`alter table ${tx(name)} alter column ${tx(column.name)} set statistics 0`;
  await tx`lock table ${tx(`${table}_${DEFAULT}`)} in access exclusive mode`;
  const key = tx(KEYS[table]);
  const { count } = await tx`
    with strays as (
      delete from ${tx(`${table}_${DEFAULT}`)} where ${key} >= ${from}::uuid and ${key} < ${to}::uuid returning *)
    insert into ${tx(name)} select * from strays`;
  await tx.unsafe(`alter table ${table} attach partition ${name} for values from ('${from}') to ('${to}')`);
  return count;
}

export async function countOutOfRange(sql: Pool): Promise<number> {
  return await counted(sql<{ count: number }[]>`
    select ((select count(*) from deliveries_default) + (select count(*) from attempts_default)
      + (select count(*) from events_default))::float8 as count`);
}

/** Drops a partition, unless something in it is needed, checked under the lock. @returns `gone`: another run did */
export async function dropPartition(sql: Pool, partition: Partition): Promise<'dropped' | 'needed' | 'gone'> {
  const { table, week } = partition;
  return await schemaStep(sql, async (tx) => {
    await tx`lock table only ${tx(table)} in access exclusive mode`;
    if (!(await tableExists(tx, `${table}_${week}`))) return 'gone';
    if ((await countNeeded(tx, partition)) > 0) return 'needed';
    await tx`drop table ${tx(`${table}_${week}`)}`;
    return 'dropped';
  });
}

/**
 * How many deliveries need a partition: open ones, and those whose deactivation is still to be mailed. An event is
 * needed by all its deliveries, attempts by those of their own week.
 */
export async function countNeeded(sql: Pool | Transaction, { table, week, from, until }: Partition) {
  if (table === 'events') {
    return await counted(sql<{ count: number }[]>`
      select count(*)::int as count from (${neededDeliveries(sql)}) d
      where (${idOf(from)}::uuid is null or d.event_id >= ${idOf(from)}::uuid)
        and (${idOf(until)}::uuid is null or d.event_id < ${idOf(until)}::uuid)`);
  }
  if (!(await tableExists(sql, `deliveries_${week}`))) return 0;
  return await counted(
    sql<{ count: number }[]>`select count(*)::int as count from (${neededDeliveries(sql, week)}) d`,
  );
}

/**
 * The needed deliveries and their events, found by indexes, so that the cost does not grow with the stored data.
 * @param week of one partition; default: all
 */
export function neededDeliveries(sql: Pool | Transaction, week?: string) {
  const deliveries = sql(week === undefined ? 'deliveries' : `deliveries_${week}`);
  return sql`
    select o.id, o.event_id from ${deliveries} o where ${isOpen(sql, 'o')}
    union
    select m.id, m.event_id from notices x join ${deliveries} m on m.id = x.delivery_id
    where ${isPendingMail(sql)}`;
}

async function tableExists(sql: Pool | Transaction, name: string): Promise<boolean> {
  const [found] = await sql`select to_regclass(${name}) is not null as there`;
  return found?.there === true;
}

const idOf = (time: Date | null) => (time === null ? null : idAt(time));
