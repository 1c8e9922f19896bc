/**
 * `/openapi.json` and `/docs`.
 * @module
 */
import { Hono } from 'hono';
import type { ApiEnv } from '../deps.ts';
import { makeOpenApi, type OpenApiDocument } from './openapi.ts';
import { makePage } from './page.ts';

/**
 * The documentation of an application, made at the first request, when all its routes are mounted.
 * @param app the whole application
 */
export function documentationRoutes(app: Hono<ApiEnv>, version: string): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  let made: Promise<OpenApiDocument> | undefined;
  let page: string | undefined;
  const document = () => {
    made ??= makeOpenApi(app, version);
    return made;
  };
  routes.get('/openapi.json', async (c) => c.json(await document()));
  routes.get('/docs', async (c) => {
    page ??= makePage(await document());
    c.header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'");
    return c.html(page);
  });
  return routes;
}
