/** Bypasses the pooler for statements that take far longer to plan than to run: behind it nothing stays prepared. */
import { hasSqlstate, isOfValues, LOCK_NOT_AVAILABLE, QUERY_CANCELED } from '../sqlstate.ts';
import type { Sql } from './pool.ts';

/** Executes a statement that may be executed twice. */
export type Execute = <T>(statement: (sql: Sql) => Promise<T>) => Promise<T>;

/**
 * How long statements go through the pool after one on a session has failed, in milliseconds. Too low: an address
 * that never answers makes too many of them wait for the deadline of a session. Too high: they are expensive for
 * longer.
 */
const WITHOUT_SESSIONS_MS = 30_000;

/**
 * Whether the server refused the statement because of its values, a lock or a time-out, as it would through the pool
 * too. Any other error may come from the session, or from a wrong address.
 */
const isOfStatement = (error: unknown) =>
  (isOfValues(error) || hasSqlstate(error, LOCK_NOT_AVAILABLE, QUERY_CANCELED)) && error.severity === 'ERROR';

/**
 * Executes on sessions with the server itself, which keep the statement prepared; through the pool while they fail
 * or if there are none. A statement that the server refuses is not executed again, and says nothing about sessions.
 * @param sessions the pool itself if no pooler is in front of the server: a failed statement is then not repeated
 * @param now in milliseconds, on a clock that does not jump
 */
export function throughSessions(
  sql: Sql,
  sessions: Sql | null,
  now: () => number = () => performance.now(),
): Execute {
  /** null: they work. */
  let failedAt: number | null = null;
  return async (statement) => {
    if (sessions === null || sessions === sql) return await statement(sql);
    if (failedAt !== null) {
      if (now() - failedAt < WITHOUT_SESSIONS_MS) return await statement(sql);
      // This statement tries the sessions again; the others do not wait for it.
      failedAt = now();
    }
    try {
      const result = await statement(sessions);
      failedAt = null;
      return result;
    } catch (error) {
      if (isOfStatement(error)) {
        failedAt = null;
        throw error;
      }
      failedAt = now();
      return await statement(sql);
    }
  };
}
