/**
 * One log line and one metric for every response, and a span for each request. They name the route's pattern, as a
 * path may contain anything.
 */
import type { Context, MiddlewareHandler } from 'hono';
import { recordedBy, type Traces } from '../traces/traces.ts';
import type { ApiDeps, ApiEnv, Session } from './deps.ts';

/** Monitoring polls these constantly: they would drown out the rest. */
const PROBE_PATHS = ['/healthz', '/readyz'];
/** The methods that any path supports. Clients may invent others. */
export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** The method if any path supports it, else `other`. */
function knownMethod(method: string): string {
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

export function tracedRequests(traces: Traces): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const within = c.env?.signedIn !== undefined;
    // The console's pages poll; only what a user does there is worth a trace.
    const asking = c.req.method === 'GET' || c.req.method === 'HEAD';
    if (PROBE_PATHS.includes(c.req.path) || (within && asking)) return await next();

    const method = knownMethod(c.req.method);
    const span = traces.begin({
      name: method,
      kind: within ? 'INTERNAL' : 'SERVER',
      parent: recordedBy(c.req.header('traceparent')),
      attributes: { 'http.request.method': method === 'other' ? '_OTHER' : method, 'url.scheme': 'http' },
    });
    await span.within(next);
    const route = c.get('route');
    if (route !== undefined) {
      span.rename(`${method} ${route}`);
      span.set({ 'http.route': route, 'url.path': route });
    }
    const { status } = c.res;
    span.set({ 'http.response.status_code': status });
    span.end(status >= 500 ? { type: String(status) } : undefined);
  };
}
