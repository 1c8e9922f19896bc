/** A database that cannot be used, as a sentence for the operator. */
import postgres from 'postgres';
import { UserError } from './user-error.ts';

/**
 * Codes of passing failures, of Postgres, its client library and Node: no connection, a login refused, starting or
 * stopping, read-only, deadlock, time-out, a resource lacking.
 */
const TRANSIENT =
  /^(?:08|25006|28|3D|53|57P|40001|40P01|57014|55000|55P03|CONNECT|ECONN|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_|EHOSTUNREACH|ENETUNREACH)/;
/** Prefixes of SQLSTATEs: login refused, no such database, no connections accepted now, starting or stopping. */
const REFUSED = /^(?:28|3D|55000|57P)/;

export const DISK_FULL = "The database's disk is full";
/** By SQLSTATE, the resource that the server lacks. Unlike after a rejection, another statement may succeed. */
const LACKS: Readonly<Record<string, string>> = {
  '53100': DISK_FULL,
  '53200': 'The database has too little memory',
  '53300': 'The database accepts no more connections',
};

/** The resource that the server lacks, without a full stop; null if the error says something else. */
export function databaseLack(error: unknown): string | null {
  return error instanceof postgres.PostgresError ? (LACKS[error.code] ?? null) : null;
}

/** True for a failure of the database, or of the connection to it, after which another try may succeed. */
export function isTransient(error: unknown): error is Error {
  if (error instanceof AggregateError) return error.errors.some(isTransient);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && TRANSIENT.test(code);
}

/** True if the database, or the connection to it, failed. */
export function isDatabaseError(error: unknown): error is Error {
  return error instanceof postgres.PostgresError || isTransient(error);
}

/** True if no server was reached, or it refused the login. */
export function isAway(error: unknown): boolean {
  return error instanceof postgres.PostgresError ? REFUSED.test(error.code) : isTransient(error);
}

/**
 * A message for users if the error says that the database at `DATABASE_URL` cannot be used; any other error is
 * returned as it is.
 */
export function databaseProblem(error: unknown): unknown {
  if (!isTransient(error)) return error;
  if (error.name === 'DatabaseReadOnly') return new UserError(error.message);
  if (!(error instanceof postgres.PostgresError))
    return new UserError('The database at DATABASE_URL cannot be reached.');
  const lack = databaseLack(error);
  if (lack !== null) return new UserError(`${lack}: ${error.message}.`);
  if (REFUSED.test(error.code))
    return new UserError(`The database at DATABASE_URL refuses the connection: ${error.message}.`);
  return new UserError(`The database fails: ${error.message}.`);
}
