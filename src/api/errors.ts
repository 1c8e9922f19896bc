/** The one place where a failure becomes a response (docs/interface.md, C3). */
import { STATUS_CODES } from 'node:http';
import type { Context } from 'hono';
import { Problem } from '../domain/problem.ts';
import { databaseLack, isTransient } from '../lib/database-away.ts';
import type { ApiDeps, ApiEnv } from './deps.ts';

/** Headers of every response: browsers must not guess its type, and nothing may cache it. */
export const baseHeaders = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' } as const;

/** The reason phrase of a status by RFC 9110. Node still has the former names of 413 and 422. */
export function reasonPhrase(status: number): string {
  if (status === 413) return 'Content Too Large';
  if (status === 422) return 'Unprocessable Content';
  return STATUS_CODES[status] ?? 'Error';
}

export function errorBody(status: number, message: string) {
  return { statusCode: status, error: reasonPhrase(status), message };
}

/**
 * The response to an error: that of a `Problem`, 503 for a database that cannot be reached or is full, 500 for any
 * other. The last two are internal, and name the request, whose details are in the log.
 */
export function failureOf(error: unknown, requestId: string) {
  if (error instanceof Problem) {
    return { status: error.status, message: error.message, headers: error.headers, internal: false };
  }
  if (isTransient(error)) {
    const cause = databaseLack(error) ?? 'The service cannot reach its database';
    const message = `${cause}. Try again shortly (request ${requestId}).`;
    return { status: 503 as const, message, headers: { 'retry-after': '2' }, internal: true };
  }
  const message = `An unexpected error occurred; it has been logged as request ${requestId}.`;
  return { status: 500 as const, message, headers: {}, internal: true };
}

export function errorHandler(deps: ApiDeps): (error: Error, c: Context<ApiEnv>) => Response {
  return (error, c) => {
    const requestId = c.get('requestId');
    if (error instanceof Problem) c.env?.refused?.(error);
    const { status, message, headers, internal } = failureOf(error, requestId);
    if (internal) {
      deps.log.error(
        { err: error, requestId, method: c.req.method, route: c.get('route') ?? null },
        'request failed',
      );
    }
    // In addition to headers that are already set, such as those of the budget.
    return c.json(errorBody(status, message), status, headers);
  };
}
