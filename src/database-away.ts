/**
 * A database that cannot be used, as a sentence for whoever configured it.
 * @module
 */
import postgres from 'postgres';
import { UserError } from './user-error.ts';

const AWAY = [
  'ECONNREFUSED',
  'CONNECT_TIMEOUT',
  'CONNECTION_SILENT',
  'ENOTFOUND',
  'ETIMEDOUT',
  'EHOSTUNREACH',
];
/** Classes of SQLSTATE: the login was refused, there is no such database. */
const REFUSED = ['28', '3D'];

/** True where nothing answers at the database's address. */
export function isDatabaseAway(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && AWAY.includes(code);
}

/** The database at `DATABASE_URL` cannot be used; any other error is returned as it is. */
export function databaseProblem(error: unknown): unknown {
  if (isDatabaseAway(error)) return new UserError('The database at DATABASE_URL cannot be reached.');
  if (error instanceof postgres.PostgresError && REFUSED.includes(error.code.slice(0, 2))) {
    return new UserError(`The database at DATABASE_URL refuses the connection: ${error.message}.`);
  }
  return error;
}
