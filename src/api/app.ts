/**
 * The HTTP application: the middleware for every request, and the mounting of all resources.
 *
 * Module api, which imports concurrency, db, domain, lib, secrets, theme, traces. Begin: `createApp` mounts every
 * resource; `records/resource.ts` makes the routes of a kind of record.
 */
import { Hono, type MiddlewareHandler } from 'hono';
import { requestId } from 'hono/request-id';
import { notFound } from '../domain/problem.ts';
import { answered, tracedRequests } from './answered.ts';
import { authenticate, requireRole } from './authenticate.ts';
import { createBudget } from './budget/budget.ts';
import { DELIVERY_ACTION_PATHS, deliveryActionRoutes } from './deliveries/actions.ts';
import { deliveryOperationRoutes } from './deliveries/operations.ts';
import { allDeliveriesRoutes, deliveryRoutes } from './deliveries/routes.ts';
import type { ApiDeps, ApiEnv } from './deps.ts';
import { docsRoutes } from './docs.ts';
import { baseHeaders, errorHandler } from './errors.ts';
import { eshopRoutes } from './eshop.ts';
import { eventRoutes } from './events.ts';
import { checkedKey } from './idempotency.ts';
import { IMPORT_PATH } from './import/path.ts';
import { importRoutes } from './import/routes.ts';
import { knownPaths } from './known-paths.ts';
import { loginRoutes } from './login.ts';
import { openApiRoutes } from './openapi/make-openapi.ts';
import { createChangeLoops } from './records/change-loops.ts';
import { orderResource } from './records/orders.ts';
import { productResource } from './records/products.ts';
import { recordReads } from './records/reads.ts';
import { receivingResource } from './records/receivings.ts';
import { resourceRoutes } from './records/resource.ts';
import { returnResource } from './records/returns.ts';
import { stockMovementResource, stockMovementRoutes } from './records/stock-movements.ts';
import { shipperServiceRoutes } from './shipper-services.ts';
import { systemRoutes } from './system.ts';
import { webhookOperationRoutes } from './webhooks/operations.ts';
import { RECEIVER_TEST_PATHS, receiverTestRoutes } from './webhooks/receiver-tests.ts';
import { RECOVER_PATH, recoveryRoutes } from './webhooks/recoveries.ts';
import { webhookRoutes } from './webhooks/routes.ts';
import { needsLength, wholeBody } from './whole-body.ts';

/** The largest body accepted, in bytes; the import of events is streamed and has no such limit. */
const MAX_BODY_BYTES = 1024 * 1024;
/** The largest body of a login, whose sender is not authenticated yet. */
const MAX_LOGIN_BYTES = 16 * 1024;

/** @example serve({ fetch: createApp(deps).fetch, port: 8080 }); */
export function createApp(deps: ApiDeps): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>();
  app.onError(errorHandler(deps));
  app.notFound(() => {
    throw notFound('No such endpoint. See /docs.');
  });

  app.use(requestId({ headerName: deps.trustProxy ? 'X-Request-Id' : '' }));
  if (deps.traces !== undefined) app.use(tracedRequests(deps.traces));
  app.use(async (c, next) => {
    const started = performance.now();
    c.header('x-request-id', c.get('requestId'));
    for (const [name, value] of Object.entries(baseHeaders)) c.header(name, value);
    await next();
    answered(deps, c, performance.now() - started);
  });
  app.use(knownPaths(app));

  systemRoutes(app, deps);
  openApiRoutes(app, deps);
  docsRoutes(app, deps.publicUrl);
  const { admit, inTurn, turn, sends } = createBudget(deps.budget);
  deps.sql.notifier.onOutgoing(sends);
  app.use('/v21/users/login', checkedKey, needsLength, wholeBody(MAX_LOGIN_BYTES));
  loginRoutes(app.basePath('/v21'), deps, turn);
  // The login comes before the authentication; everything after it needs a token.
  const signedIn = authenticate(deps);
  for (const prefix of ['/v21/*', '/v2/*']) app.use(prefix, signedIn, admit, checkedKey);
  app.use('/v21/warehouse/*', requireRole('warehouse'));
  // An import may last an hour, so only its lines take turns. Tests and examinations wait for a receiver,
  // recoveries count events, actions wait for a worker: each takes turns only for its queries, or has a place of
  // its own.
  const received = onAllBut([IMPORT_PATH], wholeBody(MAX_BODY_BYTES));
  const waitsForOthers = [...RECEIVER_TEST_PATHS, RECOVER_PATH, ...DELIVERY_ACTION_PATHS];
  const taken = onAllBut([IMPORT_PATH, ...waitsForOthers], inTurn);
  for (const prefix of ['/v21/*', '/v2/*']) app.use(prefix, received, taken);

  const orders = orderResource(deps.marketplaces);
  const loops = createChangeLoops(deps);
  const v21 = app.basePath('/v21');
  webhookRoutes(v21, deps);
  webhookOperationRoutes(v21, deps);
  receiverTestRoutes(v21, deps, turn);
  recoveryRoutes(v21, deps);
  deliveryRoutes(v21, deps);
  deliveryOperationRoutes(v21, deps);
  deliveryActionRoutes(v21, deps, turn);
  allDeliveriesRoutes(v21, deps, 'v21');
  eventRoutes(v21, deps, 'v21');
  eshopRoutes(v21, deps);
  resourceRoutes(v21, deps, orders, loops);
  resourceRoutes(v21, deps, productResource, loops);
  resourceRoutes(v21, deps, receivingResource, loops);
  resourceRoutes(v21, deps, returnResource, loops);
  stockMovementRoutes(v21, deps);
  importRoutes(v21, deps);

  const v2 = app.basePath('/v2');
  allDeliveriesRoutes(v2, deps, 'v2');
  eventRoutes(v2, deps, 'v2');
  for (const resource of [orders, productResource, receivingResource, returnResource, stockMovementResource])
    recordReads(v2, deps, 'v2', resource);
  shipperServiceRoutes(v2, deps);
  return app;
}

/**
 * Middleware for all routes except those with the given patterns. Hono's `except` would match the path of each
 * request once more.
 */
function onAllBut(
  routes: readonly string[],
  middleware: MiddlewareHandler<ApiEnv>,
): MiddlewareHandler<ApiEnv> {
  const excluded = new Set(routes);
  return (c, next) => (excluded.has(c.get('route') ?? '') ? next() : middleware(c, next));
}
