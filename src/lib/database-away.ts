/** A database that cannot be used, as a sentence for whoever configured it. */
import postgres from 'postgres';
import { UserError } from './user-error.ts';

/** Codes of errors that say that nothing answers. */
const AWAY = [
  'ECONNREFUSED',
  'CONNECT_TIMEOUT',
  'CONNECTION_SILENT',
  'ENOTFOUND',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ECONNRESET',
  'CONNECTION_CLOSED',
];
/** What SQLSTATEs begin with: the login was refused, there is no such database, it takes none now, it starts or stops. */
const REFUSED = ['28', '3D', '55000', '57P'];

/** The database at `DATABASE_URL` cannot be used; any other error is returned as it is. */
export function databaseProblem(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (typeof code === 'string' && AWAY.includes(code))
    return new UserError('The database at DATABASE_URL cannot be reached.');
  if (error instanceof postgres.PostgresError && REFUSED.some((begin) => error.code.startsWith(begin))) {
    return new UserError(`The database at DATABASE_URL refuses the connection: ${error.message}.`);
  }
  return error;
}
