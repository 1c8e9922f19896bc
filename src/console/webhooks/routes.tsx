/** The pages of webhooks: their list, one of them, and its form. */
import { Hono } from 'hono';
import * as v from 'valibot';
import { lastAccepted } from '../../db/console/health.ts';
import { webhookRecordSchema } from '../../domain/webhook.ts';
import { nameOf } from '../../domain/webhook-name.ts';
import { piece, rejectionOf } from '../api-client.ts';
import type { ConsoleDeps, ConsoleEnv } from '../deps.ts';
import { html } from '../layout.tsx';
import { CONSOLE } from '../session.ts';
import { webhookActionRoutes } from './actions.tsx';
import { WebhookForm } from './form.tsx';
import { fieldsOf, inputOf, newFields, ownSecretOf } from './input.ts';
import { WebhooksPage } from './list.tsx';
import { recoveryRoutes } from './recovery-routes.tsx';
import { NOTICES, One, WithSecret, webhookPages } from './show.tsx';
import { fieldsAbout } from './type-boxes.tsx';

const Many = v.object({ data: v.array(webhookRecordSchema) });

export function webhookRoutes(deps: ConsoleDeps): Hono<ConsoleEnv> {
  const { sql } = deps;
  const app = new Hono<ConsoleEnv>();
  const pages = webhookPages(deps);
  const { secrets, shown } = pages;

  app.get('/webhooks', async (c) => {
    const { api, viewer } = c.var;
    const [{ data: webhooks }, accepted] = await Promise.all([
      api.get(Many, '/v21/webhooks'),
      lastAccepted(sql, viewer.session.eshopId),
    ]);
    const { done = '', ...asked } = c.req.query();
    const notice = NOTICES.get(done);
    return c.html(html(<WebhooksPage {...{ viewer, asked, webhooks, accepted, notice }} />));
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
        html(<WebhookForm viewer={viewer} id={null} fields={form} refused={rejectionOf(error)} />),
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
          name={nameOf(data)}
          fields={{ ...fieldsOf(data), ...fieldsAbout(c.req.query('about')) }}
        />,
      ),
    );
  });

  app.post('/webhooks/:id/edit', async (c) => {
    const { form, viewer, api } = c.var;
    const id = c.req.param('id');
    const { data } = await api.get(One, `/v21/webhooks/${piece(id)}`);
    try {
      // The page does not switch it: what happened since it was shown stays.
      await api.send(One, 'PUT', `/v21/webhooks/${piece(id)}`, inputOf(form, data.active), {
        keepsActive: true,
      });
      return c.redirect(`${CONSOLE}/webhooks/${piece(id)}?done=saved`, 303);
    } catch (error) {
      return c.html(
        html(
          <WebhookForm {...{ viewer, id }} name={nameOf(data)} fields={form} refused={rejectionOf(error)} />,
        ),
        400,
      );
    }
  });

  app.route('/', webhookActionRoutes(pages));
  app.route('/', recoveryRoutes(deps, pages));
  return app;
}
