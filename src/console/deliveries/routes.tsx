/** The pages of deliveries, and operators' actions on one. */
import type { Context } from 'hono';
import * as v from 'valibot';
import { DeliveryWithAttempts } from '../../api/deliveries/record.ts';
import { wasWindowLost } from '../../db/deliveries/deliveries-of-eshops.ts';
import { actionsAccepted } from '../../db/deliveries/operator-actions.ts';
import { findSentRequest } from '../../db/webhooks/request-settings.ts';
import { findWebhookWithSecrets } from '../../db/webhooks/with-secrets.ts';
import { askedBy } from '../../domain/operator-action.ts';
import { webhookRecordSchema } from '../../domain/webhook.ts';
import { piece, type Query, queryText, type Rejection, rejectionOf, unlessRefused } from '../api-client.ts';
import type { ConsoleApp, ConsoleDeps, ConsoleEnv } from '../deps.ts';
import { ChoiceFilter, FILTER_FIELDS, Filters } from '../filters.tsx';
import { Page, respond } from '../layout.tsx';
import { namesIn, namesOf, type WebhookNames } from '../names.tsx';
import { Empty, Live, Pages } from '../parts.tsx';
import { CONSOLE } from '../session.ts';
import { fromField } from '../times.tsx';
import { actionsOf, isUnderWay, requestedIn } from './actions.ts';
import { DeliveryPage, GiveUpPage } from './page.tsx';
import { DeliveryList, DeliveryRows } from './rows.tsx';

const PATH = '/deliveries';
const SHOWN = ['entityId', 'state'] as const;
const MORE = ['webhookType', 'lastStatus', 'since', 'until'] as const;
const FILTERS = [...SHOWN, ...MORE, 'webhookId', 'attempts', 'page'] as const;

/** @param found null if the API refused the filters */
function DeliveriesPage(props: {
  asked: Query;
  /** The names of all its webhooks. */
  names: WebhookNames;
  found: v.InferOutput<typeof DeliveryList> | null;
  refused: Rejection | undefined;
}) {
  const { asked, names, found, refused } = props;
  const filtered = FILTERS.some((name) => name !== 'page' && asked[name]);
  return (
    <Page title="Deliveries" here={PATH} fields={FILTER_FIELDS} refused={refused}>
      <h1>Deliveries</h1>
      <Filters path={PATH} asked={asked} shown={SHOWN} more={MORE}>
        <ChoiceFilter
          name="webhookId"
          label="Webhook"
          options={[...names].map(([id, { name }]) => [String(id), name])}
        />
      </Filters>
      {found === null ? null : (
        <Live id="deliveries" path={`${CONSOLE}${PATH}${queryText(asked)}`}>
          <section class="card flush" aria-label="Deliveries found">
            {found.data.length === 0 ? (
              <Empty title="No deliveries">
                {filtered ? (
                  <>
                    No delivery matches these filters. If you expected one, its events say why it is missing:{' '}
                    <a href={`${CONSOLE}/events${queryText({ entityId: asked.entityId })}`}>
                      look at the events
                    </a>
                  </>
                ) : (
                  'Deliveries appear here as soon as an event fires one of your webhooks.'
                )}
              </Empty>
            ) : (
              <DeliveryRows deliveries={found.data} names={names} />
            )}
            <Pages paging={found.pagination} path={PATH} query={asked} />
          </section>
        </Live>
      )}
    </Page>
  );
}

const REDELIVERED = 'Redelivered. This is the new delivery.';

export function deliveryRoutes(app: ConsoleApp, deps: ConsoleDeps): void {
  const { sql, signAgain, policy } = deps;

  /** The request of the next attempt, or of the last one, signed now. */
  async function requestOf(eshopId: number, delivery: v.InferOutput<typeof DeliveryWithAttempts>) {
    const [event, webhook] = await Promise.all([
      findSentRequest(sql, eshopId, delivery.id),
      findWebhookWithSecrets(sql, eshopId, delivery.webhookId),
    ]);
    if (event === null || webhook === null) return null;
    return signAgain({ deliveryId: delivery.id, number: Math.max(1, delivery.attemptsMade), webhook, event });
  }

  async function renderDelivery(
    c: Context<ConsoleEnv>,
    id: string,
    messages: { notice?: string | undefined; refused?: Rejection },
    status: 200 | 409 = 200,
  ) {
    const delivery = await c.var.api.get(DeliveryWithAttempts, `/v21/deliveries/${piece(id)}`);
    const { viewer } = c.var;
    const [webhook, request, accepted, windowLost] = await Promise.all([
      c.var.api.get(webhookRecordSchema, `/v21/webhooks/${delivery.webhookId}`),
      requestOf(viewer.session.eshopId, delivery),
      deps.requestAction === null || !isUnderWay(delivery.state)
        ? undefined
        : actionsAccepted(sql, [delivery.id], policy),
      delivery.state === 'expired' ? wasWindowLost(sql, delivery.id) : false,
    ]);
    const may = actionsOf(viewer.session.role);
    const offered = (accepted?.get(delivery.id) ?? []).filter((action) => may.includes(action));
    const workflow = (await viewer.temporal?.delivery(delivery.id)) ?? null;
    const names = namesOf([webhook]);
    const page = { delivery, webhook, names, request, offered, workflow, policy, windowLost };
    return respond(c, <DeliveryPage {...messages} {...page} />, status);
  }

  app.get('/deliveries', async (c) => {
    const asked = Object.fromEntries(FILTERS.map((name) => [name, c.req.query(name)]));
    const { api } = c.var;
    const names = namesOf(await api.get(v.array(webhookRecordSchema), '/v21/webhooks'));
    // The form always sends both; the API refuses the second on its own.
    const attempts = asked.lastStatus ? asked.attempts : undefined;
    const query = { ...asked, attempts, since: fromField(asked.since), until: fromField(asked.until) };
    const answer = await unlessRefused(api.list(DeliveryList, '/v21/deliveries', query));
    return respond(c, <DeliveriesPage {...{ asked, names, ...answer }} />, answer.found === null ? 400 : 200);
  });

  app.get('/deliveries/:id', (c) =>
    renderDelivery(c, c.req.param('id'), {
      notice: c.req.query('done') === 'redelivered' ? REDELIVERED : undefined,
    }),
  );

  app.post('/deliveries/:id/redeliver', async (c) => {
    const id = c.req.param('id');
    try {
      const path = `/v21/deliveries/${piece(id)}/redeliver`;
      const { data: made } = await c.var.api.send(DeliveryWithAttempts, 'POST', path);
      return c.redirect(`${CONSOLE}/deliveries/${made.id}?done=redelivered`, 303);
    } catch (error) {
      return await renderDelivery(c, id, { refused: rejectionOf(error) }, 409);
    }
  });

  app.get('/deliveries/:id/give-up', async (c) => {
    const delivery = await c.var.api.get(DeliveryWithAttempts, `/v21/deliveries/${piece(c.req.param('id'))}`);
    const names = await namesIn(sql, [delivery]);
    return respond(c, <GiveUpPage delivery={delivery} names={names} />);
  });

  app.post('/deliveries/:id/act', async (c) => {
    const id = c.req.param('id');
    // The workflow itself does not check who owns the delivery.
    await c.var.api.get(DeliveryWithAttempts, `/v21/deliveries/${piece(id)}`);
    const { role, username } = c.var.viewer.session;
    const { action, reason, requestAction } = requestedIn(c.var.form, role, deps.requestAction);
    const answer = await requestAction(action, id, { ...askedBy(role, username), reason });
    const message = (c.var.viewer.operator ? answer.forOperators : undefined) ?? answer.message;
    const messages = answer.accepted ? { notice: message } : { refused: message };
    return await renderDelivery(c, id, messages, answer.accepted ? 200 : 409);
  });
}
