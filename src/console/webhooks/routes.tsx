/** The pages of webhooks: their list, one of them, and its form. */
import { webhookRecordSchema, webhookWithSecretSchema } from '../../domain/webhook.ts';
import { rejectionOf } from '../api-client.ts';
import type { ConsoleApp, ConsoleDeps } from '../deps.ts';
import { respond } from '../layout.tsx';
import { CONSOLE } from '../session.ts';
import { webhookActionRoutes } from './actions.tsx';
import { WebhookForm } from './form.tsx';
import { fieldsOf, inputOf, newFields, ownSecretOf } from './input.ts';
import { webhookList } from './list.tsx';
import { recoveryRoutes } from './recovery-routes.tsx';
import { NOTICES, webhookOf, webhookPages } from './show.tsx';
import { fieldsAbout } from './type-boxes.tsx';

export function webhookRoutes(app: ConsoleApp, deps: ConsoleDeps): void {
  const pages = webhookPages(deps);
  const { secrets, shown } = pages;

  webhookList(app, deps);

  app.get('/webhooks/new', (c) => {
    const fields = { ...newFields, ...fieldsAbout(c.req.query('about')) };
    return respond(c, <WebhookForm fields={fields} />);
  });

  app.post('/webhooks', async (c) => {
    const { form, api } = c.var;
    try {
      const { data: made } = await api.send(webhookWithSecretSchema, 'POST', '/v21/webhooks', {
        ...inputOf(form, form.active === 'true'),
        ...ownSecretOf(form),
      });
      secrets.keep(c, made.id, made.secret);
      return c.redirect(`${CONSOLE}/webhooks/${made.id}?done=created`, 303);
    } catch (error) {
      return respond(c, <WebhookForm fields={form} refused={rejectionOf(error)} />, 400);
    }
  });

  app.get('/webhooks/:id', (c) =>
    shown(c, c.req.param('id'), { notice: NOTICES.get(c.req.query('done') ?? '') }),
  );

  app.get('/webhooks/:id/edit', async (c) => {
    const webhook = await webhookOf(c);
    const fields = { ...fieldsOf(webhook), ...fieldsAbout(c.req.query('about')) };
    return respond(c, <WebhookForm webhook={webhook} fields={fields} />);
  });

  app.post('/webhooks/:id/edit', async (c) => {
    const { form, api } = c.var;
    const webhook = await webhookOf(c);
    const at = `/webhooks/${webhook.id}`;
    try {
      // Saving the form does not switch the webhook on or off: a change made since the page was shown stays.
      const input = inputOf(form, webhook.active);
      await api.send(webhookRecordSchema, 'PUT', `/v21${at}`, input, { keepsActive: true });
      return c.redirect(`${CONSOLE}${at}?done=saved`, 303);
    } catch (error) {
      const page = { webhook, fields: form, refused: rejectionOf(error) };
      return respond(c, <WebhookForm {...page} />, 400);
    }
  });

  webhookActionRoutes(app, deps, pages);
  recoveryRoutes(app, deps, pages);
}
