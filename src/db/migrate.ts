/**
 * Applies the SQL files of `migrations/` in the order of their names, under an advisory lock, so that any number of
 * processes may start at once. A database with other files than these is refused (`applied-migrations.ts`).
 *
 * Each file is one transaction, unless its first line is
 *
 *     -- outside a transaction
 *
 * as `create index concurrently` needs, which every index of a table with many rows should use. The statements of
 * such a file are sent one by one; each ends with a semicolon at the end of a line. If the process dies half-way,
 * the next start begins again, so every statement has to be repeatable; an unfinished index stays behind, invalid:
 *
 *     -- outside a transaction
 *     drop index concurrently if exists deliveries_by_entity;
 *     create index concurrently deliveries_by_entity on deliveries (eshop_id, entity_id);
 *
 * Events, deliveries and attempts are partitioned, and their indexes are built partition by partition: after the line
 *
 *     -- on every partition of deliveries
 *
 * a statement is sent once for each, with its name for `{partition}` (docs/adding.md shows a whole file).
 *
 * A statement may run for any time, but does not wait long for a lock: a session that waits for a table blocks all
 * that come later. It is retried until it gets the lock.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { SCHEMA_LOCK } from './advisory-locks.ts';
import { type MigrationFile, pendingMigrations, readMigrations } from './applied-migrations.ts';
import { createPool, type Pool } from './connection/pool.ts';
import { reportLockHolders } from './maintenance/lock-holders.ts';
import { hasSqlstate, LOCK_NOT_AVAILABLE } from './sqlstate.ts';

const MIGRATIONS = new URL('./migrations/', import.meta.url);
const ON_PARTITIONS = /^\s*-- on every partition of (\w+)\s*\n/;
const OUTSIDE = /^-- outside a transaction\s*\n/;
/** How long a migration waits for a lock, and how long it then lets others pass, in milliseconds. */
const LOCK_TIMEOUT_MS = 3_000;
const LET_PASS_MS = 1_000;
/** The time between two checks whether another process has finished its migrations, in milliseconds. */
const TURN_INTERVAL_MS = 200;

interface MigrateOptions {
  /** Called with a message that says what it waits for. */
  readonly say?: (text: string) => void;
  /** The folder of the files, for tests. */
  readonly directory?: string;
}

/**
 * Brings the database up to date.
 * @param url a `postgres://` address
 * @returns the names of the migrations applied by this call
 * @throws UserError if it was made by other files than this version's; nothing is changed then
 */
export async function migrate(url: string, { say = () => {}, directory }: MigrateOptions = {}) {
  const folder = directory === undefined ? MIGRATIONS : pathToFileURL(`${directory}/`);
  const sql = createPool(url, 1, { session: false, silenceMs: null });
  const lock = createPool(url, 1, { session: false, silenceMs: null });
  try {
    return await withLock(lock, say, applyAll);
  } finally {
    await Promise.all([sql.end({ timeout: 5 }), lock.end({ timeout: 5 })]);
  }

  async function applyAll(): Promise<string[]> {
    const pending = await pendingMigrations(sql, await readMigrations(folder));
    await sql`create table if not exists migrations (
      name text primary key, hash text not null, applied_at timestamptz not null default now())`;
    for (const file of pending) {
      const { name } = file;
      const stopSaying = await reportLockHolders(url, sql, (whom) =>
        say(`Database: ${name} is waiting for ${whom}.`),
      );
      try {
        await untilLocked(() => apply(sql, file));
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        throw new Error(`The migration ${name} failed: ${why}`, { cause: error });
      } finally {
        await stopSaying();
      }
    }
    return pending.map(({ name }) => name);
  }
}

/**
 * Does something under the advisory lock. It belongs to a transaction, which a pooler leaves on one connection. It
 * is polled, not waited for: a session that waits inside a statement would block another's `create index
 * concurrently`, which waits for all statements under way.
 */
async function withLock<T>(sql: Pool, say: (text: string) => void, work: () => Promise<T>): Promise<T> {
  for (let reported = false; ; reported = true) {
    const done = await sql.begin(async (tx) => {
      // In the simple protocol, which leaves no snapshot behind: `create index concurrently` would wait for it.
      await tx.unsafe(withoutTimeouts(true));
      const [turn] = await tx.unsafe<{ mine: boolean }[]>(
        `select pg_try_advisory_xact_lock(${SCHEMA_LOCK}) as mine`,
      );
      return turn?.mine === true ? { result: await work() } : null;
    });
    if (done !== null) return done.result;
    if (!reported) say('Database: waiting for another process to finish changing tables.');
    await sleep(TURN_INTERVAL_MS);
  }
}

/** Retries until the lock is available. */
async function untilLocked(step: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await step();
    } catch (error) {
      if (!hasSqlstate(error, LOCK_NOT_AVAILABLE)) throw error;
      await sleep(LET_PASS_MS);
    }
  }
}

/**
 * Turns off time-outs that the role or the database may have for requests: they would end a migration. The last one
 * is new in Postgres 17.
 * @param local until the end of the transaction
 */
const withoutTimeouts = (local: boolean) => `
  select set_config(name, '0', ${local}) from pg_settings
  where name in ('statement_timeout', 'idle_session_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')`;

async function apply(sql: Pool, { name, text, hash }: MigrationFile): Promise<void> {
  if (!OUTSIDE.test(text)) {
    await sql.begin(async (tx) => {
      await tx.unsafe(withoutTimeouts(true));
      await tx`select set_config('lock_timeout', ${String(LOCK_TIMEOUT_MS)}, true)`;
      await tx.unsafe(text);
      await tx`insert into migrations (name, hash) values (${name}, ${hash})`;
    });
    return;
  }
  // No time limit: concurrent statements block nobody, and waiting for others is part of their work. The connection
  // is our own: a pooler's would stay without limits for others.
  const [session] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  if (sql.connections.backendPids.includes(session?.pid ?? 0)) await sql.unsafe(withoutTimeouts(false));
  for (const statement of text.replace(OUTSIDE, '').split(/;\s*(?:\n|$)/)) {
    const table = ON_PARTITIONS.exec(statement)?.[1];
    if (table !== undefined) await onPartitions(sql, table, statement);
    else if (statement.trim() !== '') await sql.unsafe(statement);
  }
  await sql`insert into migrations (name, hash) values (${name}, ${hash})`;
}

/** Sends a statement for each partition of a table, after dropping indexes that an earlier try left unfinished. */
async function onPartitions(sql: Pool, table: string, statement: string): Promise<void> {
  const partitions = await sql<{ name: string; unfinished: string[] }[]>`
    select c.oid::regclass::text as name, array(
      select x.indexrelid::regclass::text from pg_index x where x.indrelid = c.oid and not x.indisvalid) as unfinished
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = ${table}::regclass order by 1`;
  for (const { name, unfinished } of partitions) {
    for (const index of unfinished) await sql.unsafe(`drop index concurrently ${index}`);
    await sql.unsafe(statement.replaceAll('{partition}', name));
  }
}
