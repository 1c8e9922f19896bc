import postgres from 'postgres';
import { createPool } from './pool.ts';

/** SQLSTATE: a database of this name is there already. */
const DUPLICATE_DATABASE = '42P04';

/**
 * Creates a database unless there is one of this name.
 * @param adminUrl address of another one on the same server
 */
export async function createDatabase(adminUrl: string, name: string): Promise<void> {
  const sql = createPool(adminUrl, 1);
  try {
    await sql`create database ${sql(name)}`;
  } catch (error) {
    if (!(error instanceof postgres.PostgresError) || error.code !== DUPLICATE_DATABASE) throw error;
  } finally {
    await sql.end();
  }
}
