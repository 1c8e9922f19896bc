/**
 * The one place where a failure becomes an answer (given.md, "Error body").
 * @module
 */
import { STATUS_CODES } from 'node:http';
import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import postgres from 'postgres';
import { Problem } from '../domain/problem.ts';
import type { ApiDeps, ApiEnv } from './deps.ts';

function answer(status: number, message: string, headers: Readonly<Record<string, string>> = {}): Response {
  const body = { statusCode: status, error: STATUS_CODES[status] ?? 'Error', message };
  return Response.json(body, { status, headers });
}

/** Failures of the database that go by themselves: no connection, shutting down, deadlock, time-out. */
const TRANSIENT =
  /^(?:08|53|57P|40001|40P01|57014|55P03|CONNECT|CONNECTION_|ECONN|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_)/;

function isTransient(error: unknown): boolean {
  if (error instanceof postgres.PostgresError) return TRANSIENT.test(error.code);
  if (error instanceof AggregateError) return error.errors.some(isTransient);
  return (
    error instanceof Error && 'code' in error && typeof error.code === 'string' && TRANSIENT.test(error.code)
  );
}

/**
 * Makes the error handler. A `Problem` is answered as it says; a database that is away as 503; anything else as
 * 500. The last two carry no inner detail, only the request id under which the log has it.
 */
export function errorHandler(deps: ApiDeps): (error: Error, c: Context<ApiEnv>) => Response {
  return (error, c) => {
    const requestId = c.get('requestId');
    const id = { 'x-request-id': requestId };
    if (error instanceof Problem) return answer(error.status, error.message, { ...id, ...error.headers });
    if (error instanceof HTTPException && error.status < 500) {
      return answer(error.status, error.message || (STATUS_CODES[error.status] ?? 'Refused'), id);
    }
    deps.log.error({ err: error, requestId, method: c.req.method, path: c.req.path }, 'request failed');
    return isTransient(error)
      ? answer(503, `The service cannot reach its database. Try again shortly (request ${requestId}).`, {
          ...id,
          'retry-after': '2',
        })
      : answer(500, `An unexpected error happened; it has been recorded as request ${requestId}.`, id);
  };
}
