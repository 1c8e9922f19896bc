/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The pages of webhooks, and actions on one. */
import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { Delivery } from '../../api/deliveries/record.ts';
import { recoverAnswer, recoveryRecord } from '../../api/webhooks/recovery-record.ts';
import { mailOfLastDeactivation } from '../../db/console/deactivation-mail.ts';
import { lastAccepted } from '../../db/console/health.ts';
import { listNotices } from '../../db/console/notices.ts';
import { findWebhookWithSecrets } from '../../db/webhooks/with-secrets.ts';
import { eshopRecordSchema } from '../../domain/eshop.ts';
import { examinationSchema } from '../../domain/examination.ts';
import { recoverable, usuallyRecovered } from '../../domain/recovery.ts';
import { signingKeySchema } from '../../domain/signing-key.ts';
import { testResultSchema } from '../../domain/test-delivery.ts';
import { type WebhookRecord, webhookRecordSchema, webhookWithSecretSchema } from '../../domain/webhook.ts';
import { apiErrorMessage, piece, queryText } from '../api-client.ts';
import type { ConsoleDeps, ConsoleEnv } from '../deps.ts';
import { html } from '../layout.tsx';
import { CONSOLE } from '../session.ts';
import { fromField } from '../times.tsx';
import { confirmations } from './confirm.tsx';
import { ExaminationPage } from './examination.tsx';
import { fieldsOf, inputOf, newFields, ownSecretOf, WebhookForm } from './form.tsx';
import { WebhooksPage } from './list.tsx';
import { WebhookPage, type WebhookPageProps } from './page.tsx';
import { RecoverPage } from './recover.tsx';
import { secretOnce } from './secret-once.ts';
import { fieldsAbout } from './type-boxes.tsx';

const One = v.object({ data: webhookRecordSchema });
const Many = v.object({ data: v.array(webhookRecordSchema) });
const WithSecret = v.object({ data: webhookWithSecretSchema });
const Latest = v.object({ data: v.array(Delivery) });
const Recoveries = v.object({ data: v.array(recoveryRecord) });
const Tested = v.object({ data: testResultSchema });
const Examined = v.object({ data: examinationSchema });
const Recovered = v.object({ data: recoverAnswer });
const Eshop = v.object({ data: eshopRecordSchema });
const SigningKeys = v.object({ data: v.array(signingKeySchema) });
const Any = v.object({ message: v.string() });

const SIGNING_KEYS = '/v21/eshop/signing-keys';

/** Notices after a redirect, by the word in the URL. */
const NOTICES: ReadonlyMap<string, string> = new Map([
  ['created', 'The webhook was created. Send it a test to see whether your receiver works.'],
  ['rotated', 'The webhook has a new secret.'],
  ['next-key', 'The e-shop has a new key. Give its public key to your receivers within 24 hours.'],
  ['activated', 'The webhook is active. Held deliveries resume within seconds.'],
  ['deactivated', 'The webhook is inactive: open deliveries are held.'],
  ['paused', 'The webhook is paused: deliveries are held until then.'],
  ['resumed', 'The pause is over. Held deliveries go on within seconds.'],
  ['saved', 'The webhook was changed.'],
  ['recovering', 'The recovery has started. Its progress is shown below.'],
  ['canceled', 'The recovery was canceled.'],
  ['deleted', 'The webhook was deleted.'],
]);

/** The earliest time of lost events: a delivery that has failed may have begun up to a window earlier. */
function lostSince(
  { incident, lastDeactivation, registeredAt }: WebhookRecord,
  windowMs: number,
): string | undefined {
  const at = lastDeactivation?.at ?? incident?.since;
  if (at === undefined) return undefined;
  // Events from before it existed are recovered only on request.
  return new Date(Math.max(Date.parse(at) - windowMs, Date.parse(registeredAt))).toISOString();
}

type Extra = Pick<WebhookPageProps, 'testResult' | 'notice' | 'refused'>;

export function webhookRoutes(deps: ConsoleDeps): Hono<ConsoleEnv> {
  const { sql, policy } = deps;
  const app = new Hono<ConsoleEnv>();
  const secrets = secretOnce(deps);
  type Asking = Context<ConsoleEnv>;

  /** Until when the former secret of a webhook signs too; null if there is none. */
  async function overlapOf(c: Asking, id: number): Promise<string | null> {
    const { session, now } = c.var.viewer;
    const until = (await findWebhookWithSecrets(sql, session.eshopId, id))?.previousSecretUntil ?? null;
    return until !== null && until > now ? until.toISOString() : null;
  }

  async function shown(c: Asking, id: string, extra: Extra) {
    const { api, viewer } = c.var;
    const at = `/v21/webhooks/${piece(id)}`;
    const { data: webhook } = await api.get(One, at);
    const [accepted, deliveries, recoveries, eshop, overlapUntil, mail, notices, keys] = await Promise.all([
      lastAccepted(sql, viewer.session.eshopId),
      api.get(Latest, `${at}/deliveries`, { items: '8' }),
      api.get(Recoveries, `${at}/recoveries`, { items: '5' }),
      api.get(Eshop, '/v21/eshop'),
      overlapOf(c, webhook.id),
      webhook.active ? null : mailOfLastDeactivation(sql, viewer.session.eshopId, webhook.id),
      listNotices(sql, viewer.session.eshopId, { webhookId: webhook.id, limit: 5 }),
      webhook.asymmetric ? api.get(SigningKeys, SIGNING_KEYS) : null,
    ]);
    return html(
      <WebhookPage
        {...extra}
        {...{ viewer, webhook, overlapUntil, mail, notices }}
        secret={secrets.take(c, webhook.id)}
        accepted={accepted.get(webhook.id)}
        deliveries={deliveries.data}
        recoveries={recoveries.data}
        deliveriesFrom={eshop.data.deliveriesFrom}
        signingKeys={keys?.data ?? []}
      />,
    );
  }

  /** Runs an action on a webhook; an error is shown on its page. */
  async function orShowError(c: Asking, id: string, act: () => Promise<Response>): Promise<Response> {
    try {
      return await act();
    } catch (error) {
      return c.html(await shown(c, id, { refused: apiErrorMessage(error) }), 409);
    }
  }

  app.get('/webhooks', async (c) => {
    const { api, viewer } = c.var;
    const [{ data: webhooks }, accepted] = await Promise.all([
      api.get(Many, '/v21/webhooks'),
      lastAccepted(sql, viewer.session.eshopId),
    ]);
    const notice = NOTICES.get(c.req.query('done') ?? '');
    return c.html(html(<WebhooksPage {...{ viewer, webhooks, accepted, notice }} />));
  });

  app.get('/webhooks/new', (c) =>
    c.html(
      html(
        <WebhookForm
          viewer={c.var.viewer}
          id={null}
          fields={{ ...newFields, ...fieldsAbout(c.req.query('about')) }}
        />,
      ),
    ),
  );

  app.post('/webhooks', async (c) => {
    const { form, viewer, api } = c.var;
    try {
      const { data } = await api.send(WithSecret, 'POST', '/v21/webhooks', {
        ...inputOf(form, form.active === 'true'),
        ...ownSecretOf(form),
      });
      secrets.keep(c, data.id, data.secret);
      return c.redirect(`${CONSOLE}/webhooks/${data.id}?done=created`, 303);
    } catch (error) {
      return c.html(
        html(<WebhookForm viewer={viewer} id={null} fields={form} refused={apiErrorMessage(error)} />),
        400,
      );
    }
  });

  app.get('/webhooks/:id', async (c) =>
    c.html(await shown(c, c.req.param('id'), { notice: NOTICES.get(c.req.query('done') ?? '') })),
  );

  app.get('/webhooks/:id/edit', async (c) => {
    const { data } = await c.var.api.get(One, `/v21/webhooks/${piece(c.req.param('id'))}`);
    return c.html(
      html(
        <WebhookForm
          viewer={c.var.viewer}
          id={String(data.id)}
          fields={{ ...fieldsOf(data), ...fieldsAbout(c.req.query('about')) }}
        />,
      ),
    );
  });

  app.post('/webhooks/:id/edit', async (c) => {
    const { form, viewer, api } = c.var;
    const id = c.req.param('id');
    try {
      const { data } = await api.get(One, `/v21/webhooks/${piece(id)}`);
      await api.send(One, 'PUT', `/v21/webhooks/${piece(id)}`, inputOf(form, data.active));
      return c.redirect(`${CONSOLE}/webhooks/${piece(id)}?done=saved`, 303);
    } catch (error) {
      return c.html(
        html(<WebhookForm viewer={viewer} id={id} fields={form} refused={apiErrorMessage(error)} />),
        400,
      );
    }
  });

  for (const [name, asked] of Object.entries(confirmations)) {
    app.get(`/webhooks/:id/${name}`, async (c) => {
      const { data: webhook } = await c.var.api.get(One, `/v21/webhooks/${piece(c.req.param('id'))}`);
      const overlapUntil = await overlapOf(c, webhook.id);
      return c.html(html(asked({ viewer: c.var.viewer, webhook, overlapUntil })));
    });
  }

  app.post('/webhooks/:id/delete', (c) => {
    const id = c.req.param('id');
    return orShowError(c, id, async () => {
      await c.var.api.send(Any, 'DELETE', `/v21/webhooks/${piece(id)}`);
      return c.redirect(`${CONSOLE}/webhooks?done=deleted`, 303);
    });
  });

  for (const [name, done] of [
    ['activate', 'activated'],
    ['deactivate', 'deactivated'],
    ['resume', 'resumed'],
  ] as const) {
    app.post(`/webhooks/:id/${name}`, (c) => {
      const id = piece(c.req.param('id'));
      return orShowError(c, id, async () => {
        await c.var.api.send(One, 'PUT', `/v21/webhooks/${id}/${name}`);
        return c.redirect(`${CONSOLE}/webhooks/${id}?done=${done}`, 303);
      });
    });
  }

  app.post('/webhooks/:id/pause', (c) => {
    const id = piece(c.req.param('id'));
    return orShowError(c, id, async () => {
      const { until } = c.var.form;
      const end = until === undefined || until === '' ? null : fromField(until);
      await c.var.api.send(One, 'PUT', `/v21/webhooks/${id}/pause`, { until: end });
      return c.redirect(`${CONSOLE}/webhooks/${id}?done=paused`, 303);
    });
  });

  app.post('/webhooks/:id/rotate', (c) => {
    const id = c.req.param('id');
    return orShowError(c, id, async () => {
      const overlap = c.var.form.overlap === '0' ? '?overlap=0' : '';
      const { data } = await c.var.api.send(
        WithSecret,
        'PUT',
        `/v21/webhooks/${piece(id)}/regenerate-secret${overlap}`,
        ownSecretOf(c.var.form),
      );
      secrets.keep(c, data.id, data.secret);
      return c.redirect(`${CONSOLE}/webhooks/${data.id}?done=rotated`, 303);
    });
  });

  app.post('/webhooks/:id/next-key', (c) => {
    const id = c.req.param('id');
    return orShowError(c, id, async () => {
      await c.var.api.send(SigningKeys, 'POST', SIGNING_KEYS);
      return c.redirect(`${CONSOLE}/webhooks/${piece(id)}?done=next-key`, 303);
    });
  });

  app.post('/webhooks/:id/test', (c) => {
    const id = c.req.param('id');
    return orShowError(c, id, async () => {
      const { data: testResult } = await c.var.api.send(
        Tested,
        'POST',
        `/v21/webhooks/${piece(id)}/test${queryText({ type: c.var.form.type })}`,
      );
      return c.html(await shown(c, id, { testResult }));
    });
  });

  app.get('/webhooks/:id/examine', async (c) => {
    const { data: webhook } = await c.var.api.get(One, `/v21/webhooks/${piece(c.req.param('id'))}`);
    return c.html(html(<ExaminationPage viewer={c.var.viewer} webhook={webhook} />));
  });

  app.post('/webhooks/:id/examine', async (c) => {
    const { api, viewer } = c.var;
    const at = `/v21/webhooks/${piece(c.req.param('id'))}`;
    const { data: webhook } = await api.get(One, at);
    const { type } = c.var.form;
    try {
      const { data: found } = await api.send(Examined, 'POST', `${at}/examine${queryText({ type })}`);
      return c.html(html(<ExaminationPage {...{ viewer, webhook, found, type }} />));
    } catch (error) {
      return c.html(
        html(<ExaminationPage {...{ viewer, webhook, type, refused: apiErrorMessage(error) }} />),
        409,
      );
    }
  });

  app.get('/webhooks/:id/recover', async (c) => {
    const { data } = await c.var.api.get(One, `/v21/webhooks/${piece(c.req.param('id'))}`);
    const since = c.req.query('since') ?? lostSince(data, policy.windowMs)?.slice(0, 16);
    return c.html(
      html(
        <RecoverPage
          viewer={c.var.viewer}
          id={String(data.id)}
          fields={{ since }}
          include={usuallyRecovered}
        />,
      ),
    );
  });

  app.post('/webhooks/:id/recover', async (c) => {
    const { form, viewer, api } = c.var;
    const id = c.req.param('id');
    const include = recoverable.filter((name) => form[name] === 'true');
    const page = { viewer, id, fields: form, include };
    const until = form.until === '' ? undefined : fromField(form.until);
    const asked = { since: fromField(form.since), ...(until === undefined ? {} : { until }), include };
    const dryRun = form.go !== 'begin';
    try {
      const { data } = await api.send(Recovered, 'POST', `/v21/webhooks/${piece(id)}/recover`, {
        ...asked,
        dryRun,
      });
      return dryRun
        ? c.html(html(<RecoverPage {...page} counted={data} />))
        : c.redirect(`${CONSOLE}/webhooks/${piece(id)}?done=recovering`, 303);
    } catch (error) {
      return c.html(html(<RecoverPage {...page} refused={apiErrorMessage(error)} />), 400);
    }
  });

  app.post('/webhooks/:id/recoveries/:recoveryId/cancel', (c) => {
    const { id, recoveryId } = c.req.param();
    return orShowError(c, id, async () => {
      await c.var.api.send(Any, 'POST', `/v21/webhooks/${piece(id)}/recoveries/${piece(recoveryId)}/cancel`);
      return c.redirect(`${CONSOLE}/webhooks/${piece(id)}?done=canceled`, 303);
    });
  });
  return app;
}
