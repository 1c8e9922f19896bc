/**
 * A migrated database of its own for a test file.
 * @module
 */
import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { createPool, type Pool } from '../../src/db/pool.ts';

export interface TestDatabase {
  readonly sql: Pool;
  readonly url: string;
  /** Ends the pool and drops the database. */
  drop(): Promise<void>;
}

/** Copies the migrated template. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const base = inject('postgresUrl');
  const name = `t_${randomBytes(6).toString('hex')}`;
  const admin = createPool(`${base}/postgres`, 1);
  await admin.unsafe(`create database ${name} template template_waybill`);
  const url = `${base}/${name}`;
  const sql = createPool(url, 10);
  return {
    sql,
    url,
    async drop() {
      await sql.end();
      await admin.unsafe(`drop database ${name} with (force)`);
      await admin.end();
    },
  };
}
