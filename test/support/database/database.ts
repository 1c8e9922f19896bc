/**
 * A migrated, empty database for a test file; a returned one serves the process's next file. Creating and connecting
 * takes longer than most tests, and each new connection plans every statement again.
 */
import { randomBytes, randomInt } from 'node:crypto';
import { inject } from 'vitest';
import { createPool, type Pool } from '../../../src/db/connection/pool.ts';

export interface TestDatabase {
  readonly sql: Pool;
  readonly url: string;
  /** Ends all its connections and accepts no new ones: seen from outside, the database is unavailable. */
  cut(): Promise<void>;
  /** Accepts connections again. */
  restore(): Promise<void>;
  /** Returns it. */
  drop(): Promise<void>;
}

interface Made {
  readonly name: string;
  readonly url: string;
  readonly sql: Pool;
  readonly admin: Pool;
  /** Its shape when it was created. */
  readonly shape: string;
}

/** Databases not in use, as clean as new ones. */
const idle: Made[] = [];

export async function createTestDatabase(): Promise<TestDatabase> {
  const database = idle.pop() ?? (await make());
  const { name, url, sql, admin } = database;
  let wasCut = false;
  return {
    sql,
    url,
    async cut() {
      wasCut = true;
      await admin.unsafe(`alter database ${name} with allow_connections false`);
      await admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`;
    },
    async restore() {
      await admin.unsafe(`alter database ${name} with allow_connections true`);
    },
    async drop() {
      if (!wasCut && (await renew(database))) {
        idle.push(database);
        return;
      }
      // With a limit: after a cut the library may wait for a connection that it never opens again.
      await sql.end({ timeout: 5 });
      await admin.unsafe(`drop database ${name} with (force)`);
      await admin.end();
    },
  };
}

/** Copies the migrated template. */
async function make(): Promise<Made> {
  const base = inject('postgresUrl');
  const name = `t_${randomBytes(6).toString('hex')}`;
  // Without a time limit: on a busy machine a copy takes longer than any statement of the program.
  const admin = createPool(`${base}/postgres`, 1, { statementMs: null, silenceMs: null });
  const [server] = await admin<
    { version: number }[]
  >`select current_setting('server_version_num')::int as version`;
  // Copying the files takes a third of the time of writing them to the log, the only strategy before version 15.
  const strategy = (server?.version ?? 0) < 150_000 ? '' : 'strategy file_copy';
  await admin.unsafe(`create database ${name} template template_waybill ${strategy}`);
  const url = `${base}/${name}`;
  const sql = createPool(url, 10);
  // Workflow ids contain the e-shop, and tests share one Temporal: no two databases may have the same e-shop.
  await sql.unsafe(`alter table eshops alter column id restart with ${randomInt(1, 1_000_000_000)}`);
  return { name, url, sql, admin, shape: await shapeOf(sql) };
}

/** What a test can change besides rows: tables, partitions, indexes, triggers, functions, statistics, settings. */
async function shapeOf(sql: Pool): Promise<string> {
  const [row] = await sql<{ shape: string }[]>`
    select concat_ws(' ',
      (select md5(string_agg(concat(oid, relname, relchecks, relnatts, reloptions, relispartition, reltuples >= 0), ' ' order by oid))
        from pg_class where relnamespace = 'public'::regnamespace),
      (select md5(string_agg(concat(oid, tgenabled), ' ' order by oid)) from pg_trigger),
      (select count(*) from pg_db_role_setting s where s.setdatabase = (select oid from pg_database where datname = current_database())),
      (select count(*) from pg_proc), (select count(*) from pg_statistic), (select count(*) from migrations)) as shape`;
  return row?.shape ?? '';
}

/** Tables above this size in bytes get new files: rows that are only deleted slow down searches. */
const LARGE = 128 * 1024;

/** Empties it. Returns false if its shape has changed, or something is still running in it. */
async function renew({ sql, shape }: Made): Promise<boolean> {
  try {
    if ((await shapeOf(sql)) !== shape) return false;
    await emptyTables(sql);
    return true;
  } catch {
    return false;
  }
}

/** Deletes all rows. @throws if a table is in use */
export async function emptyTables(sql: Pool): Promise<void> {
  const written = await sql<{ table: string; large: boolean }[]>`
    select quote_ident(relname) as table, pg_relation_size(oid) > ${LARGE} as large from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> 'migrations' and pg_relation_size(oid) > 0`;
  // Sent together, they are one transaction.
  await sql.unsafe(
    [
      // A locked table is still in use.
      "set local lock_timeout = '1s'",
      // No foreign keys, no triggers.
      'set local session_replication_role = replica',
      ...written.map(({ table, large }) => (large ? `truncate ${table} cascade` : `delete from ${table}`)),
      // Sequences restart, except that of e-shops: their ids are part of workflow ids.
      "select setval(seqrelid::regclass, seqstart, false) from pg_sequence where seqrelid <> 'eshops_id_seq'::regclass",
    ].join(';'),
  );
}
