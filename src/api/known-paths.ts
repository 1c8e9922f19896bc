/**
 * 404 for an unknown path, 405 with `Allow` for an unknown method: before authentication, the same for everyone.
 */
import type { Hono, MiddlewareHandler } from 'hono';
import { matchedRoutes } from 'hono/route';
import { notFound, Problem } from '../domain/problem.ts';
import { METHODS } from './answered.ts';
import type { ApiEnv } from './deps.ts';
import { acceptsKey } from './idempotency.ts';

/** Only middleware is mounted for all methods. */
const isEndpoint = ({ method }: { readonly method: string }) => method !== 'ALL';

/** Mount it before all routes. */
export function knownPaths(app: Hono<ApiEnv>): MiddlewareHandler<ApiEnv> {
  const endpointOf = (method: string, path: string) =>
    app.router
      .match(method === 'HEAD' ? 'GET' : method, path)[0]
      .map(([[, route]]) => route)
      .find(isEndpoint);

  return async (c, next) => {
    const { path } = c.req;
    const matched = matchedRoutes(c).filter(isEndpoint);
    const others =
      matched.length > 0 ? [] : METHODS.filter((method) => endpointOf(method, path) !== undefined);
    const route = matched[0] ?? endpointOf(others[0] ?? '', path);
    if (route === undefined) throw notFound('No such endpoint. See /docs.');
    c.set('route', route.path);
    if (matched.length === 0) {
      const allow = others.toSorted().join(', ');
      throw new Problem(405, `This endpoint supports only ${allow}.`, { allow });
    }
    const ofRoute = matched.filter((each) => each.path === route.path);
    c.set(
      'acceptsKey',
      ofRoute.some(({ handler }) => acceptsKey(handler)),
    );
    await next();
  };
}
