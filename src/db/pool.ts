/**
 * The connection pool. Column names are snake_case in SQL and camelCase in TypeScript; `numeric` arrives as a
 * decimal string, `timestamptz` as `Date`, JSON untouched.
 * @module
 */
import postgres from 'postgres';

/** A pool or a transaction: what every query function takes first. */
export type Sql = postgres.Sql | postgres.TransactionSql;
/** The pool itself, where a function opens its own transaction. */
export type Pool = postgres.Sql;

/** How long a query may take before Postgres ends it, in milliseconds: no request hangs on a lock for ever. */
const STATEMENT_TIMEOUT_MS = 10_000;

/**
 * Opens a pool. Nothing connects until the first query.
 * @param url a `postgres://` address
 * @param max the most connections (default 10)
 */
export function createPool(url: string, max = 10): Pool {
  return postgres(url, {
    max,
    // Only column names: postgres.camel would also rewrite the keys inside JSON values.
    transform: { column: { from: postgres.toCamel, to: postgres.fromCamel } },
    connection: { application_name: 'waybill', statement_timeout: STATEMENT_TIMEOUT_MS },
    connect_timeout: 10,
    onnotice: () => {},
  });
}
