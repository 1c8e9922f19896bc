/** A span for each request, named by the route's pattern, as a path may contain anything. */
import type { MiddlewareHandler } from 'hono';
import { recordedBy, type Traces } from '../traces/traces.ts';
import { knownMethod, PROBE_PATHS } from './answered.ts';
import type { ApiEnv } from './deps.ts';

export function tracedRequests(traces: Traces): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const within = c.env?.signedIn !== undefined;
    // The console's pages poll; only what a user does there is worth a trace.
    const asking = c.req.method === 'GET' || c.req.method === 'HEAD';
    if (PROBE_PATHS.includes(c.req.path) || (within && asking)) return await next();

    const method = knownMethod(c.req.method);
    const span = traces.begin({
      name: method,
      kind: within ? 'internal' : 'server',
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
