/**
 * 404 for an unknown path, 405 with `Allow` for an unknown method: before authentication, the same for everyone.
 */
import type { Hono, MiddlewareHandler } from 'hono';
import { notFound, Problem } from '../domain/problem.ts';
import type { ApiEnv } from './deps.ts';

interface KnownPath {
  readonly path: string;
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}

function patternOf(path: string): RegExp {
  const segments = path
    .split('/')
    .map((segment) => (segment.startsWith(':') ? '[^/]+' : segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')));
  return new RegExp(`^${segments.join('/')}$`);
}

function collect(app: Hono<ApiEnv>): KnownPath[] {
  const paths = new Map<string, KnownPath>();
  for (const { path, method } of app.routes) {
    if (method === 'ALL') continue;
    const known = paths.get(path) ?? { path, pattern: patternOf(path), methods: new Set<string>() };
    known.methods.add(method);
    if (method === 'GET') known.methods.add('HEAD');
    paths.set(path, known);
  }
  return [...paths.values()];
}

/** Mount it before all routes; these are read at the first request, when all are mounted. */
export function knownPaths(app: Hono<ApiEnv>): MiddlewareHandler<ApiEnv> {
  let known: KnownPath[] | undefined;
  return async (c, next) => {
    known ??= collect(app);
    const found = known.filter(({ pattern }) => pattern.test(c.req.path));
    const allowed = new Set(found.flatMap(({ methods }) => [...methods]));
    const route = found.find(({ methods }) => methods.has(c.req.method)) ?? found[0];
    if (route !== undefined) c.set('route', route.path);
    if (allowed.size === 0) throw notFound('No such endpoint. See /docs.');
    if (!allowed.has(c.req.method)) {
      const allow = [...allowed].sort().join(', ');
      throw new Problem(405, `This endpoint supports only ${allow}.`, { allow });
    }
    await next();
  };
}
