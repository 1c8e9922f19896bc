/** What can be said of a line that stays out: nothing of its secrets. */
import postgres from 'postgres';
import { Problem } from '../../domain/problem.ts';

/** Why; null where the line is not to blame. */
export function problemOf(error: unknown): string | null {
  if (error instanceof Problem) return error.message;
  // Class 22: characters that Postgres cannot store.
  if (error instanceof postgres.PostgresError && error.code.startsWith('22'))
    return 'has characters that cannot be stored';
  return null;
}

/** The beginning of one of its fields; null where that is neither text nor a number. */
export function wordOf(value: unknown, name: string): string | null {
  const given: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, name) : null;
  return typeof given === 'string' || typeof given === 'number' ? String(given).slice(0, 200) : null;
}
