/** Actions on a webhook, with their confirmations. */
import type { Context } from 'hono';
import * as v from 'valibot';
import { duration } from '../../domain/duration.ts';
import { shortTypes } from '../../domain/event-types.ts';
import { examinationSchema } from '../../domain/examination.ts';
import type { RetryPolicy } from '../../domain/retry-policy.ts';
import { testResultSchema } from '../../domain/test-delivery.ts';
import { type WebhookRecord, webhookRecordSchema, webhookWithSecretSchema } from '../../domain/webhook.ts';
import { nameOf } from '../../domain/webhook-name.ts';
import { MAX_PAUSE_DAYS } from '../../domain/webhook-pause.ts';
import { typesOf } from '../../domain/webhook-types.ts';
import { piece, type Query, queryText, type Rejection, rejectionOf } from '../api-client.ts';
import { ConfirmPage } from '../confirm.tsx';
import type { ConsoleApp, ConsoleDeps, ConsoleEnv } from '../deps.ts';
import { Check, Input } from '../form-fields.tsx';
import { respond } from '../layout.tsx';
import { CONSOLE } from '../session.ts';
import { fromField, Time } from '../times.tsx';
import { ExaminationPage } from './examination.tsx';
import { OwnSecret } from './form.tsx';
import { ownSecretOf } from './input.ts';
import { findOverlap, SIGNING_KEYS, SigningKeys } from './page.tsx';
import { type WebhookPages, webhookOf } from './show.tsx';

interface ConfirmationProps {
  readonly webhook: WebhookRecord;
  readonly policy: RetryPolicy;
  /** When the former secret stops signing; null if there is none. */
  readonly overlapUntil: string | null;
  /** Where its form leads, the fields as typed, and why they were refused. */
  readonly form: Pick<Parameters<typeof ConfirmPage>[0], 'here' | 'action' | 'back' | 'values' | 'refused'>;
}

const MINUTE_MS = 60_000;

/** The end of a pause, as a field shows it: rounded up to a minute, unless the pause would be too long. */
function minuteAfter(end: string): string {
  const latest = Date.now() + MAX_PAUSE_DAYS * 24 * 60 * MINUTE_MS;
  const at = Math.min(Math.ceil(Date.parse(end) / MINUTE_MS), Math.floor(latest / MINUTE_MS));
  return new Date(at * MINUTE_MS).toISOString().slice(0, 16);
}

const confirmations = {
  deactivate: ({ webhook, policy, form }: ConfirmationProps) => (
    <ConfirmPage {...form} title={`Deactivate ${nameOf(webhook)}?`} button="Deactivate webhook" kind="main">
      <p>
        Its open deliveries are held until it is active again, and their window of {duration(policy.windowMs)}{' '}
        keeps running. New {shortTypes(typesOf(webhook))} events are not delivered to it; you can recover them
        once it is active again.
      </p>
    </ConfirmPage>
  ),
  pause: ({ webhook, webhook: { pausedUntil }, policy, form }: ConfirmationProps) => (
    <ConfirmPage
      {...form}
      title={
        pausedUntil === null
          ? `Pause ${nameOf(webhook)}?`
          : `Change the end of the pause of ${nameOf(webhook)}?`
      }
      button={pausedUntil === null ? 'Pause webhook' : 'Move the end'}
      kind="main"
      fields={['until']}
      values={{ until: pausedUntil === null ? undefined : minuteAfter(pausedUntil), ...form.values }}
    >
      <p>
        For a maintenance window of your receiver: events still create deliveries, but none is sent before the
        end. Nothing is lost, and the time counts neither as a failure nor against the window of a delivery (
        {duration(policy.windowMs)}).
      </p>
      <Input
        name="until"
        label={`Until (UTC; default: in ${MAX_PAUSE_DAYS} days, the longest)`}
        type="datetime-local"
      />
    </ConfirmPage>
  ),
  delete: ({ webhook, form }: ConfirmationProps) => (
    <ConfirmPage {...form} title={`Delete ${nameOf(webhook)}?`} button="Delete webhook">
      <p class="wrap">
        Nothing more is sent to <strong>{webhook.url}</strong>. Open deliveries are canceled, and past
        deliveries can no longer be viewed or recovered. This cannot be undone.
      </p>
    </ConfirmPage>
  ),
  rotate: ({ webhook, overlapUntil, form }: ConfirmationProps) => (
    <ConfirmPage
      {...form}
      title={`Regenerate the secret of ${nameOf(webhook)}?`}
      button="Regenerate secret"
      fields={['secret']}
    >
      <p>
        The new secret is shown once, on the next page. For 24 hours, each request is signed with both the old
        and the new one, so that nothing is rejected while you update your receiver.
      </p>
      {overlapUntil === null ? null : (
        <p class="note warn">
          An earlier secret is still used for signing until <Time at={overlapUntil} />. This ends its use now:
          a receiver that has only that one will reject every request.
        </p>
      )}
      <OwnSecret />
      <Check name="atOnce" label="Stop using the current secret immediately, because it may have leaked" />
    </ConfirmPage>
  ),
} as const;

export function webhookActionRoutes(app: ConsoleApp, deps: ConsoleDeps, pages: WebhookPages): void {
  const { sql, policy } = deps;
  const { secrets, shown, orRefused, act } = pages;

  async function confirmation(
    c: Context<ConsoleEnv>,
    name: keyof typeof confirmations,
    retryForm: { readonly values?: Query; readonly refused?: Rejection } = {},
  ) {
    const webhook = await webhookOf(c);
    const back = `/webhooks/${webhook.id}`;
    const form = { here: '/webhooks', action: `${back}/${name}`, back, ...retryForm };
    const overlapUntil = await findOverlap(sql, c, webhook.id);
    const content = confirmations[name]({ webhook, policy, overlapUntil, form });
    return respond(c, content, retryForm.refused === undefined ? 200 : 409);
  }

  for (const name of ['deactivate', 'pause', 'delete', 'rotate'] as const) {
    app.get(`/webhooks/:id/${name}`, (c) => confirmation(c, name));
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
      return await confirmation(c, 'pause', { values: form, refused: rejectionOf(error) });
    }
  });

  app.post('/webhooks/:id/rotate', async (c) => {
    const { form, api } = c.var;
    try {
      const overlap = form.atOnce === 'true' ? '?overlap=0' : '';
      const path = `/v21/webhooks/${piece(c.req.param('id'))}/regenerate-secret${overlap}`;
      const { data: webhook } = await api.send(webhookWithSecretSchema, 'PUT', path, ownSecretOf(form));
      secrets.keep(c, webhook.id, webhook.secret);
      return c.redirect(`${CONSOLE}/webhooks/${webhook.id}?done=rotated`, 303);
    } catch (error) {
      return await confirmation(c, 'rotate', { values: form, refused: rejectionOf(error) });
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

  app.get('/webhooks/:id/examine', async (c) => respond(c, <ExaminationPage webhook={await webhookOf(c)} />));

  app.post('/webhooks/:id/examine', async (c) => {
    const webhook = await webhookOf(c);
    const { type } = c.var.form;
    try {
      const path = `/v21/webhooks/${webhook.id}/examine${queryText({ type })}`;
      const { data: found } = await c.var.api.send(examinationSchema, 'POST', path);
      return respond(c, <ExaminationPage {...{ webhook, found, type }} />);
    } catch (error) {
      const refused = rejectionOf(error);
      return respond(c, <ExaminationPage {...{ webhook, type, refused }} />, 409);
    }
  });
}
