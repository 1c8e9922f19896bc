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

export const DISK_FULL = "The database's disk is full";
/** By SQLSTATE: what the server lacks. Unlike after a rejection, another statement may succeed. */
const LACKS: Readonly<Record<string, string>> = {
  '53100': DISK_FULL,
  '53200': 'The database has too little memory',
  '53300': 'The database accepts no more connections',
};

/** What the server lacks, without a full stop; null if the error says something else. */
export function databaseLack(error: unknown): string | null {
  return error instanceof postgres.PostgresError ? (LACKS[error.code] ?? null) : null;
}

/** True if the database, or the connection to it, failed. */
export function isDatabaseError(error: unknown): boolean {
  return error instanceof postgres.PostgresError || hasNoAnswer(error);
}

function hasNoAnswer(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && AWAY.includes(code);
}

/**
 * The sentence, if the error says that the database at `DATABASE_URL` cannot be used; any other error is returned
 * as it is.
 */
export function databaseProblem(error: unknown): unknown {
  if (hasNoAnswer(error)) return new UserError('The database at DATABASE_URL cannot be reached.');
  if (!(error instanceof postgres.PostgresError)) return error;
  const lack = databaseLack(error);
  if (lack !== null) return new UserError(`${lack}: ${error.message}.`);
  if (REFUSED.some((begin) => error.code.startsWith(begin)))
    return new UserError(`The database at DATABASE_URL refuses the connection: ${error.message}.`);
  return error;
}
