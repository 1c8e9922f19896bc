/** `/openapi.json` and `/docs`. */
import { Hono } from 'hono';
import { compress } from 'hono/compress';
import { notFound } from '../../domain/problem.ts';
import { publicLinks } from '../../theme/public-url.ts';
import { securedPages } from '../../theme/secured.ts';
import type { ApiDeps, ApiEnv } from '../deps.ts';
import { assetRoutes, DOCS } from './assets.ts';
import { makeOpenApi } from './openapi.ts';
import { searchOptions } from './search-index.ts';
import { makeSite } from './site.tsx';

const secured = securedPages('no-referrer');

const MAX_QUERY_CHARS = 200;

function once<Made>(make: () => Promise<Made>): () => Promise<Made> {
  let made: Promise<Made> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** The documentation of an application, made at the first request, when all its routes are mounted. */
export function documentationRoutes(
  app: Hono<ApiEnv>,
  { version, publicUrl }: Pick<ApiDeps, 'version' | 'publicUrl'>,
): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  const document = once(() => makeOpenApi(app, version, publicUrl));
  const site = once(async () => makeSite(await document()));
  // Serialized once: it is large, and anyone may request it.
  const text = once(async () => new TextEncoder().encode(JSON.stringify(await document())));
  routes.get('/openapi.json', async (c) => c.body(await text(), 200, { 'content-type': 'application/json' }));
  for (const path of [DOCS, `${DOCS}/*`]) routes.use(path, compress());
  routes.use(`${DOCS}/*`, publicLinks(publicUrl));
  routes.route(DOCS, assetRoutes);
  routes.get(`${DOCS}/search.json`, async (c) => {
    const { findable } = await site();
    return c.json({ options: searchOptions, entries: findable });
  });
  routes.get(`${DOCS}/search`, secured, async (c) => {
    const query = (c.req.query('q') ?? '').trim().slice(0, MAX_QUERY_CHARS);
    return c.html((await site()).results(query));
  });
  for (const path of [DOCS, `${DOCS}/:page`, `${DOCS}/:section/:page`]) {
    routes.get(path, secured, async (c) => {
      const { page, missing } = await site();
      const found = page(c.req.path);
      if (found !== null) return c.html(found);
      // A browser gets a page, a program the usual error.
      if (c.req.header('accept')?.includes('text/html') === true) return c.html(missing(), 404);
      throw notFound('There is no such page. See /docs.');
    });
  }
  for (const path of [`${DOCS}/`, `${DOCS}/:page/`, `${DOCS}/:section/:page/`]) {
    routes.get(path, (c) => {
      const { pathname, search } = new URL(c.req.url);
      return c.redirect(`${pathname.replace(/\/$/, '')}${search}`, 308);
    });
  }
  return routes;
}
