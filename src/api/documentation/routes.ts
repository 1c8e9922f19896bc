/**
 * `/openapi.json` and `/docs`.
 * @module
 */
import { createHash } from 'node:crypto';
import { Hono } from 'hono';
import { secureHeaders } from 'hono/secure-headers';
import type { ApiEnv } from '../deps.ts';
import { makeOpenApi, type OpenApiDocument } from './openapi.ts';
import { makePage } from './page.tsx';
import { style } from './style.ts';

/** Nothing but its own style: no script, no frame, no form. TLS is up to the proxy that terminates it. */
const secured = secureHeaders({
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    styleSrc: [`'sha256-${createHash('sha256').update(style).digest('base64')}'`],
    baseUri: ["'none'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
  },
  xFrameOptions: 'DENY',
  strictTransportSecurity: false,
});

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
  routes.get('/docs', secured, async (c) => {
    page ??= makePage(await document());
    return c.html(page);
  });
  return routes;
}
