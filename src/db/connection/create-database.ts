import { DUPLICATE_DATABASE, hasSqlstate } from '../sqlstate.ts';
import { createPool } from './pool.ts';

/**
 * Creates a database unless one of this name exists.
 * @param adminUrl address of another database on the same server
 * @param owner default: the user of `adminUrl`
 */
export async function createDatabase(adminUrl: string, name: string, owner?: string): Promise<void> {
  const sql = createPool(adminUrl, 1);
  try {
    await sql`create database ${sql(name)} ${owner === undefined ? sql`` : sql`owner ${sql(owner)}`}`;
  } catch (error) {
    if (!hasSqlstate(error, DUPLICATE_DATABASE)) throw error;
  } finally {
    await sql.end();
  }
}

/**
 * Creates a role that may log in and is not a superuser, unless one of this name exists.
 * @param adminUrl address of a database on the server, as a superuser
 */
export async function createRole(
  adminUrl: string,
  { name, password }: { readonly name: string; readonly password: string },
): Promise<void> {
  const sql = createPool(adminUrl, 1);
  try {
    // Checked first: a statement that fails appears in the server's log, with the password.
    if ((await sql`select from pg_roles where rolname = ${name}`).length > 0) return;
    const [made] = await sql<{ statement: string }[]>`
      select format('create role %I login password %L', ${name}::text, ${password}::text) as statement`;
    await sql.unsafe(made?.statement ?? '');
  } finally {
    await sql.end();
  }
}
