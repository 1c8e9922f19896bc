/**
 * One log line and one metric for every response. The line names the route's pattern, as a path may contain
 * anything.
 */
import type { Context } from 'hono';
import type { ApiDeps, ApiEnv, Session } from './deps.ts';

/** Polled constantly by monitoring: these would drown the rest. */
export const PROBE_PATHS = ['/healthz', '/readyz'];
/** The methods that some path supports. Others are invented by clients. */
export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** The method, if some path supports it. */
export function knownMethod(method: string): string {
  return METHODS.includes(method) ? method : 'other';
}

/** @param ms until the head of the response, in milliseconds */
export function answered({ log, onAnswer }: ApiDeps, c: Context<ApiEnv>, ms: number): void {
  const route = c.get('route') ?? null;
  const session: Session | undefined = c.get('session');
  const method = knownMethod(c.req.method);
  const { status } = c.res;
  // The console makes its requests within the process, and logs its own responses.
  const within = c.env?.signedIn !== undefined;
  if (!within) onAnswer?.({ method, status, ms });
  const level = within || (route !== null && PROBE_PATHS.includes(route)) ? 'debug' : 'info';
  const eshop = session === undefined ? {} : { eshopId: session.eshopId };
  log[level](
    { method, route, status, ms: Math.round(ms), ...eshop, requestId: c.get('requestId') },
    'request',
  );
}
