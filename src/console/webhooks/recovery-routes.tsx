/** Recoveries of a webhook: counted, started, paused, resumed, canceled. */
import { Hono } from 'hono';
import * as v from 'valibot';
import { recoverAnswer } from '../../api/webhooks/recovery-record.ts';
import { recoverable, recoveryActions, usuallyRecovered } from '../../domain/recovery.ts';
import { type WebhookRecord, webhookRecordSchema } from '../../domain/webhook.ts';
import { nameOf } from '../../domain/webhook-name.ts';
import { piece, rejectionOf } from '../api-client.ts';
import type { ConsoleDeps, ConsoleEnv } from '../deps.ts';
import { respond } from '../layout.tsx';
import { CONSOLE } from '../session.ts';
import { fromField } from '../times.tsx';
import { RecoverPage } from './recover.tsx';
import type { WebhookPages } from './show.tsx';

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

export function recoveryRoutes({ policy }: ConsoleDeps, { act }: WebhookPages): Hono<ConsoleEnv> {
  const app = new Hono<ConsoleEnv>();

  app.get('/webhooks/:id/recover', async (c) => {
    const webhook = await c.var.api.get(webhookRecordSchema, `/v21/webhooks/${piece(c.req.param('id'))}`);
    const since = c.req.query('since') ?? lostSince(webhook, policy.windowMs)?.slice(0, 16);
    const page = { id: String(webhook.id), name: nameOf(webhook) };
    return respond(c, <RecoverPage {...page} fields={{ since }} include={usuallyRecovered} />);
  });

  app.post('/webhooks/:id/recover', async (c) => {
    const { form, api } = c.var;
    const id = c.req.param('id');
    const include = recoverable.filter((name) => form[name] === 'true');
    const webhook = await api.get(webhookRecordSchema, `/v21/webhooks/${piece(id)}`);
    const page = { id, name: nameOf(webhook), fields: form, include };
    const until = form.until === '' ? undefined : fromField(form.until);
    const asked = { since: fromField(form.since), ...(until === undefined ? {} : { until }), include };
    const dryRun = form.go !== 'begin';
    try {
      const path = `/v21/webhooks/${piece(id)}/recover`;
      const { data: counted } = await api.send(recoverAnswer, 'POST', path, { ...asked, dryRun });
      return dryRun
        ? respond(c, <RecoverPage {...page} counted={counted} />)
        : c.redirect(`${CONSOLE}/webhooks/${piece(id)}?done=recovering`, 303);
    } catch (error) {
      return respond(c, <RecoverPage {...page} refused={rejectionOf(error)} />, 400);
    }
  });

  for (const action of recoveryActions) {
    app.post(`/webhooks/:id/recoveries/:recoveryId/${action}`, (c) =>
      act(c, `recovery-${action}`, (at) => {
        const path = `${at}/recoveries/${piece(c.req.param('recoveryId'))}/${action}`;
        return c.var.api.send(v.unknown(), 'POST', path);
      }),
    );
  }
  return app;
}
