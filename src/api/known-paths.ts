/**
 * 404 for an unknown path, 405 with `Allow` for an unknown method: before authentication, the same for everyone.
 */
import type { Hono, MiddlewareHandler } from 'hono';
import { notFound, Problem } from '../domain/problem.ts';
import type { ApiEnv } from './deps.ts';
import { acceptsKey } from './idempotency.ts';

interface KnownPath {
  readonly path: string;
  readonly pattern: RegExp;
  readonly methods: Set<string>;
  /** Those that take an `Idempotency-Key`. */
  readonly keyed: Set<string>;
}

/** Of a segment of a route's pattern; a last `*` stands for any path below. */
function segmentOf(segment: string): string {
  if (segment === '*') return '.*';
  return segment.startsWith(':') ? '[^/]+' : segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

function patternOf(path: string): RegExp {
  const segments = path.split('/').map(segmentOf);
  return new RegExp(`^${segments.join('/')}$`);
}

function collect(app: Hono<ApiEnv>): KnownPath[] {
  const paths = new Map<string, KnownPath>();
  for (const { path, method, handler } of app.routes) {
    if (method === 'ALL') continue;
    const known = paths.get(path) ?? {
      path,
      pattern: patternOf(path),
      methods: new Set<string>(),
      keyed: new Set<string>(),
    };
    known.methods.add(method);
    if (method === 'GET') known.methods.add('HEAD');
    if (acceptsKey(handler)) known.keyed.add(method);
    paths.set(path, known);
  }
  return [...paths.values()];
}

/**
 * The known paths that match one. Those of a path without parameters are found in advance: most requests are to few
 * of them.
 */
function finder(known: readonly KnownPath[]): (path: string) => readonly KnownPath[] {
  const matching = (path: string) => known.filter(({ pattern }) => pattern.test(path));
  const exact = new Map(
    known.filter(({ path }) => !path.includes(':')).map(({ path }) => [path, matching(path)]),
  );
  return (path) => exact.get(path) ?? matching(path);
}

/** Mount it before all routes; these are read at the first request, when all are mounted. */
export function knownPaths(app: Hono<ApiEnv>): MiddlewareHandler<ApiEnv> {
  let find: ((path: string) => readonly KnownPath[]) | undefined;
  return async (c, next) => {
    find ??= finder(collect(app));
    const found = find(c.req.path);
    const { method } = c.req;
    const route = found.find(({ methods }) => methods.has(method)) ?? found[0];
    if (route === undefined) throw notFound('No such endpoint. See /docs.');
    c.set('route', route.path);
    c.set('acceptsKey', route.keyed.has(method));
    if (!route.methods.has(method)) {
      const allowed = new Set(found.flatMap(({ methods }) => [...methods]));
      const allow = [...allowed].sort().join(', ');
      throw new Problem(405, `This endpoint supports only ${allow}.`, { allow });
    }
    await next();
  };
}
