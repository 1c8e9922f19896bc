/** `/openapi.json`. */
import { Hono } from 'hono';
import type { ApiDeps, ApiEnv } from '../deps.ts';
import { makeOpenApi } from './make-openapi.ts';

/** The document of an application, made at the first request, when all its routes are mounted. */
export function openApiRoutes(
  app: Hono<ApiEnv>,
  deps: Pick<ApiDeps, 'version' | 'publicUrl' | 'policy'>,
): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  // Serialized once: it is large, and anyone may request it.
  let bytes: Promise<Uint8Array<ArrayBuffer>> | undefined;
  routes.get('/openapi.json', async (c) => {
    bytes ??= makeOpenApi(app, deps).then((document) => new TextEncoder().encode(JSON.stringify(document)));
    return c.body(await bytes, 200, { 'content-type': 'application/json' });
  });
  return routes;
}
