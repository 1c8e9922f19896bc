/** Actions on a webhook, with their confirmations. */
import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { examinationSchema } from '../../domain/examination.ts';
import { testResultSchema } from '../../domain/test-delivery.ts';
import { webhookRecordSchema, webhookWithSecretSchema } from '../../domain/webhook.ts';
import { piece, type Query, queryText, rejectionOf } from '../api-client.ts';
import type { ConsoleEnv } from '../deps.ts';
import { respond } from '../layout.tsx';
import type { Rejection } from '../problems.ts';
import { CONSOLE } from '../session.ts';
import { fromField } from '../times.tsx';
import { confirmations } from './confirm.tsx';
import { ExaminationPage } from './examination.tsx';
import { ownSecretOf } from './input.ts';
import { SIGNING_KEYS, SigningKeys, type WebhookPages } from './show.tsx';

export function webhookActionRoutes(pages: WebhookPages): Hono<ConsoleEnv> {
  const { policy, secrets, overlapOf, shown, orRefused, act } = pages;
  const app = new Hono<ConsoleEnv>();

  async function confirmation(
    c: Context<ConsoleEnv>,
    page: (typeof confirmations)[keyof typeof confirmations],
    again: { readonly fields?: Query; readonly refused?: Rejection } = {},
  ) {
    const at = `/v21/webhooks/${piece(c.req.param('id') ?? '')}`;
    const webhook = await c.var.api.get(webhookRecordSchema, at);
    const overlapUntil = await overlapOf(c, webhook.id);
    const content = page({ webhook, policy, overlapUntil, ...again });
    return respond(c, content, again.refused === undefined ? 200 : 409);
  }

  for (const [name, page] of Object.entries(confirmations)) {
    app.get(`/webhooks/:id/${name}`, (c) => confirmation(c, page));
  }

  app.post('/webhooks/:id/delete', (c) =>
    orRefused(c, async (at) => {
      await c.var.api.send(v.unknown(), 'DELETE', `/v21${at}`);
      return c.redirect(`${CONSOLE}/webhooks?done=deleted`, 303);
    }),
  );

  for (const name of ['activate', 'deactivate', 'resume'] as const) {
    app.post(`/webhooks/:id/${name}`, (c) =>
      act(c, name, (at) => c.var.api.send(webhookRecordSchema, 'PUT', `${at}/${name}`)),
    );
  }

  app.post('/webhooks/:id/pause', async (c) => {
    const id = piece(c.req.param('id'));
    const { form, api } = c.var;
    try {
      const end = form.until === undefined || form.until === '' ? null : fromField(form.until);
      await api.send(webhookRecordSchema, 'PUT', `/v21/webhooks/${id}/pause`, { until: end });
      return c.redirect(`${CONSOLE}/webhooks/${id}?done=paused`, 303);
    } catch (error) {
      const again = { fields: form, refused: rejectionOf(error) };
      return await confirmation(c, confirmations.pause, again);
    }
  });

  app.post('/webhooks/:id/rotate', async (c) => {
    const { form, api } = c.var;
    try {
      const overlap = form.overlap === '0' ? '?overlap=0' : '';
      const path = `/v21/webhooks/${piece(c.req.param('id'))}/regenerate-secret${overlap}`;
      const { data: webhook } = await api.send(webhookWithSecretSchema, 'PUT', path, ownSecretOf(form));
      secrets.keep(c, webhook.id, webhook.secret);
      return c.redirect(`${CONSOLE}/webhooks/${webhook.id}?done=rotated`, 303);
    } catch (error) {
      const again = { fields: form, refused: rejectionOf(error) };
      return await confirmation(c, confirmations.rotate, again);
    }
  });

  app.post('/webhooks/:id/next-key', (c) =>
    act(c, 'next-key', () => c.var.api.send(SigningKeys, 'POST', SIGNING_KEYS)),
  );

  app.post('/webhooks/:id/test', (c) =>
    orRefused(c, async (at) => {
      const path = `/v21${at}/test${queryText({ type: c.var.form.type })}`;
      const { data: testResult } = await c.var.api.send(testResultSchema, 'POST', path);
      return await shown(c, c.req.param('id'), { testResult });
    }),
  );

  app.get('/webhooks/:id/examine', async (c) => {
    const webhook = await c.var.api.get(webhookRecordSchema, `/v21/webhooks/${piece(c.req.param('id'))}`);
    return respond(c, <ExaminationPage webhook={webhook} />);
  });

  app.post('/webhooks/:id/examine', async (c) => {
    const { api } = c.var;
    const at = `/v21/webhooks/${piece(c.req.param('id'))}`;
    const webhook = await api.get(webhookRecordSchema, at);
    const { type } = c.var.form;
    try {
      const path = `${at}/examine${queryText({ type })}`;
      const { data: found } = await api.send(examinationSchema, 'POST', path);
      return respond(c, <ExaminationPage {...{ webhook, found, type }} />);
    } catch (error) {
      const refused = rejectionOf(error);
      return respond(c, <ExaminationPage {...{ webhook, type, refused }} />, 409);
    }
  });
  return app;
}
