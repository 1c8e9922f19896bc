/** The SQLSTATEs that decide what is done about an error. */
import postgres from 'postgres';

export const FOREIGN_KEY_VIOLATION = '23503';
export const READ_ONLY_TRANSACTION = '25006';
export const SERIALIZATION_FAILURE = '40001';
export const DEADLOCK = '40P01';
export const UNDEFINED_TABLE = '42P01';
export const DUPLICATE_DATABASE = '42P04';
export const DISK_FULL = '53100';
export const TOO_MANY_CONNECTIONS = '53300';
export const QUERY_CANCELED = '57014';
export const LOCK_NOT_AVAILABLE = '55P03';

export function hasSqlstate(error: unknown, ...states: readonly string[]): error is postgres.PostgresError {
  return error instanceof postgres.PostgresError && states.includes(error.code);
}

/** Whether the server has refused the values: SQLSTATEs of data, constraints, deadlocks and serialization. */
export function isOfValues(error: unknown): error is postgres.PostgresError {
  return error instanceof postgres.PostgresError && /^(?:21|22|23|40)/.test(error.code);
}
