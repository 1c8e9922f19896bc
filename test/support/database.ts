/**
 * A migrated, empty database for a test file. One that was given back serves the next file of the same process: making
 * one and connecting to it takes longer than most tests, and each new connection plans every statement anew.
 */
import { randomBytes, randomInt } from 'node:crypto';
import { inject } from 'vitest';
import { createPool, type Pool } from '../../src/db/pool.ts';

export interface TestDatabase {
  readonly sql: Pool;
  readonly url: string;
  /** Ends every connection to it and takes no more: as it looks from outside, the database is away. */
  cut(): Promise<void>;
  /** Takes connections again. */
  restore(): Promise<void>;
  /** Gives it back. */
  drop(): Promise<void>;
}

interface Made {
  readonly name: string;
  readonly url: string;
  readonly sql: Pool;
  readonly admin: Pool;
  /** As it was made. */
  readonly shape: string;
}

/** Those that nobody uses: as good as new. */
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
      // Bounded: after a cut the library may wait for a connection that it never opens again.
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
  // A copy takes as long as it takes: on a busy machine longer than any statement of the program.
  const admin = createPool(`${base}/postgres`, 1, { statementMs: null, silenceMs: null });
  const [server] = await admin<
    { version: number }[]
  >`select current_setting('server_version_num')::int as version`;
  // Copying the files takes a third of the time that writing them to the log takes. Before 15 there was nothing else.
  const strategy = (server?.version ?? 0) < 150_000 ? '' : 'strategy file_copy';
  await admin.unsafe(`create database ${name} template template_waybill ${strategy}`);
  const url = `${base}/${name}`;
  const sql = createPool(url, 10);
  // Workflow ids name the e-shop, and the tests share one Temporal server: no two databases may have the same e-shop.
  await sql.unsafe(`alter table eshops alter column id restart with ${randomInt(1, 1_000_000_000)}`);
  return { name, url, sql, admin, shape: await shapeOf(sql) };
}

/** All that a test can change in a database beside rows: tables, partitions, indexes, triggers, functions, statistics, settings. */
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

/** Above this size in bytes a table gets new files: rows that are only deleted stay in the way of those who search. */
const LARGE = 128 * 1024;

/** Empties it. False when it is not as it was made, or something in it is still under way. */
async function renew({ sql, shape }: Made): Promise<boolean> {
  try {
    if ((await shapeOf(sql)) !== shape) return false;
    const written = await sql<{ table: string; large: boolean }[]>`
      select quote_ident(relname) as table, pg_relation_size(oid) > ${LARGE} as large from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> 'migrations' and pg_relation_size(oid) > 0`;
    // Sent together, they are one transaction.
    await sql.unsafe(
      [
        // A table that somebody has locked is not free yet.
        "set local lock_timeout = '1s'",
        // Neither foreign keys nor triggers.
        'set local session_replication_role = replica',
        ...written.map(({ table, large }) => (large ? `truncate ${table} cascade` : `delete from ${table}`)),
        // Numbers begin anew but for those of e-shops, which name workflows.
        "select setval(seqrelid::regclass, seqstart, false) from pg_sequence where seqrelid <> 'eshops_id_seq'::regclass",
      ].join(';'),
    );
    return true;
  } catch {
    return false;
  }
}
