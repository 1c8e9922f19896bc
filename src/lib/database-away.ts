/** A database that cannot be used, as a sentence for the operator. */
import postgres from 'postgres';
import { UserError } from './user-error.ts';

/** Codes of errors for a server that does not answer. */
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
/** Prefixes of SQLSTATEs: login refused, no such database, no connections accepted now, starting or stopping. */
const REFUSED = ['28', '3D', '55000', '57P'];

/** The sentence, if the error says that the database at `DATABASE_URL` cannot be used; any other error is returned as it is. */
export function databaseProblem(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (typeof code === 'string' && AWAY.includes(code))
    return new UserError('The database at DATABASE_URL cannot be reached.');
  if (error instanceof postgres.PostgresError && REFUSED.some((begin) => error.code.startsWith(begin))) {
    return new UserError(`The database at DATABASE_URL refuses the connection: ${error.message}.`);
  }
  return error;
}
