/** Statements that take many times longer to plan than to run, past a pooler behind which nothing stays prepared. */
import type { Sql } from './pool.ts';

/** Executes a statement that may be executed twice. */
export type Execute = <T>(statement: (sql: Sql) => Promise<T>) => Promise<T>;

/**
 * For how long statements go through the pool once one by a session has failed, in milliseconds. Less: an address that never answers costs
 * too many of them five seconds. More: they are dear for longer.
 */
const WITHOUT_SESSIONS_MS = 30_000;

/**
 * By sessions with the server itself, which keep the statement prepared; through the pool while they fail, and where there are none.
 * @param sessions the pool itself where no pooler is in front of the server: what fails there is not executed again
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
      // One finds out; the others do not wait for it.
      failedAt = now();
    }
    try {
      const result = await statement(sessions);
      failedAt = null;
      return result;
    } catch {
      failedAt = now();
      return await statement(sql);
    }
  };
}
