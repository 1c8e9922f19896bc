/** A migrated database of its own for a test file. */
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
  /** Ends the pool and drops the database. */
  drop(): Promise<void>;
}

/** Copies the migrated template. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const base = inject('postgresUrl');
  const name = `t_${randomBytes(6).toString('hex')}`;
  // A copy takes as long as it takes: on a busy machine longer than any statement of the program.
  const admin = createPool(`${base}/postgres`, 1, { statementMs: null, silenceMs: null });
  // Copying the files takes a third of the time that writing them to the log takes.
  await admin.unsafe(`create database ${name} template template_waybill strategy file_copy`);
  const url = `${base}/${name}`;
  const sql = createPool(url, 10);
  // Workflow ids name the e-shop, and the tests share one Temporal server: no two databases may have the same e-shop.
  await sql.unsafe(`alter table eshops alter column id restart with ${randomInt(1, 1_000_000_000)}`);
  return {
    sql,
    url,
    async cut() {
      await admin.unsafe(`alter database ${name} with allow_connections false`);
      await admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`;
    },
    async restore() {
      await admin.unsafe(`alter database ${name} with allow_connections true`);
    },
    async drop() {
      // Bounded: after a cut the library may wait for a connection that it never opens again.
      await sql.end({ timeout: 5 });
      await admin.unsafe(`drop database ${name} with (force)`);
      await admin.end();
    },
  };
}
