/**
 * The console's requests: their middleware, and the routes of the pages.
 *
 * Module console, which imports api, db, domain, lib, theme. Begin: a page is a folder or file, and
 * calls the API by `api-client.ts`.
 */
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { requestId } from 'hono/request-id';
import { routePath } from 'hono/route';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { createPlaces } from '../api/budget/places.ts';
import { baseHeaders } from '../api/errors.ts';
import { findInvalidText } from '../domain/invalid-text.ts';
import { Problem } from '../domain/problem.ts';
import { publicLinks } from '../theme/public-url.ts';
import { securedPages } from '../theme/secured.ts';
import { allRoutes } from './all/routes.tsx';
import { apiClient } from './api-client.ts';
import { assetRoutes } from './assets.ts';
import { confirmationRoutes } from './confirm-address.tsx';
import { deliveryRoutes } from './deliveries/routes.tsx';
import type { Authenticator, ConsoleDeps, ConsoleEnv, Viewer } from './deps.ts';
import { rememberEshop, requestedEshop } from './eshops.ts';
import { eventRoutes } from './events/routes.tsx';
import { ownForms, smallForms } from './forms.ts';
import { Page, respond, respondPlain } from './layout.tsx';
import { noticeRoutes } from './notices/routes.tsx';
import { operatorRoutes } from './operator/routes.tsx';
import { overviewRoutes } from './overview/routes.tsx';
import { recordRoutes } from './records/routes.tsx';
import { CONSOLE, formToken } from './session.ts';
import { userAuthenticator } from './sign-in.tsx';
import { webhookRoutes } from './webhooks/routes.tsx';

const secured = securedPages('same-origin');

/** Whether a request is a page's own refresh. A POST always comes from a person. */
function isLive(c: Context<ConsoleEnv>): boolean {
  return c.req.method !== 'POST' && c.req.header('hx-request') === 'true';
}

/** Pages rendered at once, of all e-shops and of one: limits reads that bypass the API but share its budget. */
const CONCURRENT_PAGES = { total: 8, perKey: 3 } as const;

/** Requires a session, and redirects others to the sign-in. */
function signedIn(deps: ConsoleDeps, authenticator: Authenticator): MiddlewareHandler<ConsoleEnv> {
  const { api, temporal } = deps;
  const places = createPlaces(CONCURRENT_PAGES, 'Too many pages are requested at the same time.');
  return async (c, next) => {
    const id = authenticator.sessionOf(c);
    const live = isLive(c);
    const session = id === undefined ? null : await authenticator.authenticate(id, !live);
    if (id === undefined || session === null) {
      if (!live) return await authenticator.unauthenticated(c);
      // This makes the page reload itself, which leads to the sign-in.
      c.header('hx-refresh', 'true');
      return c.body(null, 401);
    }
    const { user, eshops, operator, now } = session;
    const eshop = await requestedEshop(c, deps, eshops);
    if (eshops.length > 1 && c.req.method === 'GET' && !live) rememberEshop(c, eshop, deps);
    const viewer: Viewer = {
      session: { ...user, eshopId: eshop.id },
      now,
      stillAllowed: async () => {
        const still = await authenticator.authenticate(id, false);
        return still?.eshops.some((each) => each.id === eshop.id) ?? false;
      },
      eshopName: eshop.name,
      eshops,
      operator,
      temporal: user.role === 'warehouse' ? temporal : null,
      csrf: formToken(id, eshop.id),
    };
    c.set('viewer', viewer);
    c.set('api', apiClient(api, viewer));
    // A POST waits for its turn in the API, and a test of a webhook waits for its receiver.
    if (c.req.method === 'POST') return await next();
    // The place counts for the person's first e-shop, whichever one the page is about.
    await places.run(eshops[0]?.id ?? eshop.id, next);
  };
}

/** One log line for every page that a person requests, with the route's pattern, not the path; a metric for all. */
function answered({ log, onAnswer }: ConsoleDeps, c: Context<ConsoleEnv>, ms: number): void {
  const viewer: Viewer | undefined = c.var.viewer;
  const method = c.req.method === 'POST' ? 'POST' : 'GET';
  const { status } = c.res;
  onAnswer?.({ method, status, ms });
  const route = routePath(c, -1);
  const level = isLive(c) || route.startsWith(`${CONSOLE}/assets/`) ? 'debug' : 'info';
  const eshop = viewer === undefined ? {} : { eshopId: viewer.session.eshopId };
  log[level]({ method, route, status, ms: Math.round(ms), ...eshop, requestId: c.var.requestId }, 'page');
}

function titleOf(status: number): string {
  if (status === 404) return 'Not found';
  if (status === 429) return 'Too many requests';
  return status >= 500 ? 'Something went wrong' : 'Not possible';
}

/**
 * Makes the application that serves `/console`.
 * @param authenticator default: that of the users of the API
 */
export function createConsole(
  deps: ConsoleDeps,
  authenticator: Authenticator = userAuthenticator(deps),
): Hono<ConsoleEnv> {
  const app = new Hono<ConsoleEnv>().basePath(CONSOLE);

  const problem = (c: Context<ConsoleEnv>, status: ContentfulStatusCode, message: string) => {
    const title = titleOf(status);
    const content = (
      <>
        <p>{message}</p>
        <p>
          <a href={CONSOLE}>Back to the overview</a>
        </p>
      </>
    );
    // Absent before authentication.
    const viewer: Viewer | undefined = c.get('viewer');
    if (viewer === undefined) return respondPlain(c, title, content, status);
    const page = (
      <Page title={title} here="none">
        <h1>{title}</h1>
        {content}
      </Page>
    );
    return respond(c, page, status);
  };

  app.onError((error, c) => {
    if (error instanceof Problem) return problem(c, error.status, error.message);
    const { requestId: id } = c.var;
    deps.log.error({ err: error, requestId: id }, 'a page of the console failed');
    const message = `The page could not be loaded. Try again; if the error persists, give the operator the request id ${id}.`;
    return problem(c, 500, message);
  });
  app.notFound((c) => problem(c, 404, 'There is no such page.'));

  app.use(requestId({ headerName: '' }), secured);
  app.use(async (c, next) => {
    const started = performance.now();
    for (const [name, value] of Object.entries(baseHeaders)) c.header(name, value);
    await next();
    answered(deps, c, performance.now() - started);
  });
  app.use(publicLinks(deps.publicUrl));
  if (authenticator.guard !== undefined) app.use(authenticator.guard);
  app.use(async (c, next) => {
    // As in the API: the database cannot store such text.
    const refused = findInvalidText(c.req.query());
    if (refused !== null) throw new Problem(400, `${refused.path}: ${refused.message}`);
    await next();
  });
  app.route('/', assetRoutes);
  app.use(smallForms);
  authenticator.routes(app);
  if (deps.operator === undefined) confirmationRoutes(app, deps);
  app.use(signedIn(deps, authenticator), ownForms(authenticator.sessionOf, authenticator.acceptFormOnce));
  const forEshops = [overviewRoutes, webhookRoutes, deliveryRoutes, eventRoutes, recordRoutes, noticeRoutes];
  for (const addRoutes of [...forEshops, allRoutes, operatorRoutes]) addRoutes(app, deps);
  return app;
}

/** Combines both applications: paths below `/console` go to the console. */
export function withConsole(
  api: { fetch(request: Request, env: ConsoleEnv['Bindings']): Response | Promise<Response> },
  pages: Hono<ConsoleEnv>,
) {
  return {
    fetch(request: Request, env: ConsoleEnv['Bindings'] = {}): Response | Promise<Response> {
      const { pathname } = new URL(request.url);
      const isConsole = pathname === CONSOLE || pathname.startsWith(`${CONSOLE}/`);
      return isConsole ? pages.fetch(request, env) : api.fetch(request, env);
    },
  };
}
