/** The pages about all e-shops of a user of the warehouse, or of an operator. */
import type { Context, MiddlewareHandler } from 'hono';
import pLimit from 'p-limit';
import * as v from 'valibot';
import { eshopOf } from '../../db/console/eshops.ts';
import { findDeliveries } from '../../db/deliveries/deliveries-of-eshops.ts';
import { actionsAccepted } from '../../db/deliveries/operator-actions.ts';
import { deliveryStates } from '../../domain/delivery-state.ts';
import { eventTypeNames } from '../../domain/event-types.ts';
import { oneOf, uuid } from '../../domain/fields.ts';
import { askedBy, type RequestedResult } from '../../domain/operator-action.ts';
import { notFound } from '../../domain/problem.ts';
import { attemptsFilter, statusFilter, statusFilterOf } from '../../domain/status-filter.ts';
import { timestamp } from '../../domain/timestamp.ts';
import { problemsOf } from '../../domain/validation.ts';
import { nonEmpty, type Query } from '../api-client.ts';
import { isUnderWay, requestedIn } from '../deliveries/actions.ts';
import type { ConsoleApp, ConsoleDeps, ConsoleEnv } from '../deps.ts';
import { respond } from '../layout.tsx';
import { namesIn } from '../names.tsx';
import { ALL } from '../session.ts';
import { fromField } from '../times.tsx';
import { type ActionResult, AllDeliveriesPage, CHOSEN, GiveUpAllPage } from './deliveries.tsx';
import { overviewOfAll } from './overview.tsx';
import { MAX_ROWS, numberField, scopeOf } from './scope.ts';
import { webhooksOfAll } from './webhooks.tsx';

/**
 * How many deliveries are acted on at once. Too low: a page of them takes long. Too high: they use up the database's
 * connections, and without a worker all wait for an answer that does not come.
 */
const ASKED_AT_ONCE = 5;

/** A time as a form sends it; without an offset it is UTC. */
const time = v.pipe(
  v.string(),
  v.transform((text) => fromField(text) ?? ''),
  timestamp(),
  v.transform((text) => new Date(text)),
);
/** The filters that are filled in. */
const DeliveryQuery = v.object({
  among: v.optional(numberField),
  state: v.optional(oneOf(deliveryStates)),
  webhookId: v.optional(numberField),
  entityId: v.optional(v.pipe(v.string(), v.trim())),
  receiver: v.optional(v.pipe(v.string(), v.trim())),
  lastStatus: v.optional(v.pipe(v.string(), v.trim(), statusFilter)),
  attempts: v.optional(attemptsFilter),
  webhookType: v.optional(oneOf(eventTypeNames)),
  since: v.optional(time),
  until: v.optional(time),
  before: v.optional(uuid()),
});

/** These pages do not exist for a person who sees only one e-shop. */
const severalOnly: MiddlewareHandler<ConsoleEnv> = async (c, next) => {
  const { operator, eshops } = c.var.viewer;
  if (!operator && eshops.length < 2) throw notFound('There is no such page.');
  await next();
};

export function allRoutes(app: ConsoleApp, deps: ConsoleDeps): void {
  const { sql, policy } = deps;
  app.use(ALL, severalOnly);
  app.use(`${ALL}/*`, severalOnly);

  overviewOfAll(app, deps);
  webhooksOfAll(app, deps);

  async function list(
    c: Context<ConsoleEnv>,
    asked: Query,
    results: readonly ActionResult[] = [],
    missing?: string,
  ) {
    const { viewer } = c.var;
    const query = v.safeParse(DeliveryQuery, nonEmpty(asked));
    const { among: eshopId, lastStatus, attempts, ...filter } = query.success ? query.output : {};
    const status = statusFilterOf({ lastStatus, attempts });
    const search = { ...filter, status, eshopId, among: scopeOf(viewer) };
    const deliveries = query.success ? await findDeliveries(sql, search, MAX_ROWS) : [];
    const refused = query.success ? missing : problemsOf(query.issues, DeliveryQuery);
    const under = deps.requestAction === null ? [] : deliveries.filter(({ state }) => isUnderWay(state));
    const [accepted, names] = await Promise.all([
      actionsAccepted(
        sql,
        under.map(({ id }) => id),
        policy,
      ),
      namesIn(sql, deliveries),
    ]);
    const page = { asked, deliveries, results, refused, accepted, names };
    return respond(c, <AllDeliveriesPage {...page} />, refused === undefined ? 200 : 400);
  }

  app.get(`${ALL}/deliveries`, (c) => list(c, c.req.query()));

  app.post(`${ALL}/deliveries/act`, async (c) => {
    const { form, viewer } = c.var;
    const { query = '', ...given } = form;
    const { role, username } = viewer.session;
    const { action, reason, requestAction } = requestedIn(given, role, deps.requestAction);
    const ids = Object.keys(form)
      .filter((name) => name.startsWith(CHOSEN))
      .map((name) => name.slice(CHOSEN.length))
      .filter((id) => v.is(uuid(), id))
      .slice(0, MAX_ROWS);
    const back: Query = Object.fromEntries(new URLSearchParams(query));
    if (ids.length === 0) return await list(c, back, [], 'Select at least one delivery.');
    if (action === 'giveUp' && form.sure !== 'true') {
      return respond(c, <GiveUpAllPage form={form} ids={ids} />);
    }
    const scope = scopeOf(viewer);
    let unanswered = false;
    const ask = async (deliveryId: string): Promise<ActionResult> => {
      if (unanswered) {
        const message = 'Not asked: an earlier request got no answer.';
        return { deliveryId, accepted: false, message };
      }
      // Check the owner first, as the workflow does not.
      const owner = await eshopOf(sql, 'deliveries', deliveryId);
      const visible = owner !== null && (scope === undefined || scope.includes(owner));
      const answer: RequestedResult = visible
        ? await requestAction(action, deliveryId, { ...askedBy(role, username), reason })
        : { accepted: false, message: 'There is no such delivery.' };
      unanswered ||= answer.unanswered === true;
      const message = (viewer.operator ? answer.forOperators : undefined) ?? answer.message;
      return { deliveryId, accepted: answer.accepted, message };
    };
    return await list(c, back, await pLimit(ASKED_AT_ONCE).map(ids, ask));
  });
}
