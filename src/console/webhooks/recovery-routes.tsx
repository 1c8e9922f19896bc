/** Recoveries of a webhook: counted, started, paused, resumed, canceled. */
import * as v from 'valibot';
import { recoverAnswer } from '../../api/webhooks/recovery-record.ts';
import { duration } from '../../domain/duration.ts';
import {
  lostSince,
  type Recoverable,
  recoverable,
  recoveryActions,
  usuallyRecovered,
} from '../../domain/recovery.ts';
import type { WebhookRecord } from '../../domain/webhook.ts';
import { nameOf } from '../../domain/webhook-name.ts';
import { piece, type Query, type Rejection, rejectionOf } from '../api-client.ts';
import type { ConsoleApp, ConsoleDeps } from '../deps.ts';
import { Check, Input } from '../form-fields.tsx';
import { Form, Page, respond } from '../layout.tsx';
import { CONSOLE } from '../session.ts';
import { fromField, Time } from '../times.tsx';
import { type WebhookPages, webhookOf } from './show.tsx';

const WORDS: Readonly<Record<Recoverable, string>> = {
  failed: 'Failed: all retries failed',
  expired: 'Expired: the delivery was held, or Waybill failed, until its window ended',
  canceled: 'Canceled: an operator ended the delivery',
  missed: 'Missed: the webhook was inactive or did not exist yet',
};

/** @param counted the result of a dry run */
function RecoverPage(props: {
  webhook: WebhookRecord;
  fields: Query;
  counted?: v.InferOutput<typeof recoverAnswer> | undefined;
  refused?: Rejection | undefined;
}) {
  const { webhook, fields, counted, refused } = props;
  const path = `/webhooks/${webhook.id}`;
  return (
    <Page title={`Recover ${nameOf(webhook)}`} here="/webhooks" refused={refused} fields={['since', 'until']}>
      <div class="top">
        <div>
          <h1>Recover</h1>
          <p class="quiet">
            Sends <a href={`${CONSOLE}${path}`}>{nameOf(webhook)}</a> the events that it did not get.
            Delivered events are not sent again.
          </p>
        </div>
      </div>
      <Form action={`${path}/recover`} values={fields} class="card form">
        <div class="filters">
          <Input name="since" label="Events since (UTC)" type="datetime-local" required />
          <Input name="until" label="Until (UTC; default: now)" type="datetime-local" />
        </div>
        <fieldset>
          <legend>Events to recover</legend>
          {recoverable.map((name) => (
            <Check name={name} label={WORDS[name]} />
          ))}
        </fieldset>
        {counted === undefined ? null : (
          <div class="note good" role="status">
            <p>
              <strong>{counted.count.toLocaleString('en-US')}</strong>{' '}
              {counted.count === 1 ? 'event' : 'events'} would be recovered
              {counted.count === 0 ? '.' : `, in about ${duration(counted.estimatedDurationMs)}.`}
            </p>
            {counted.first === null || counted.last === null ? null : (
              <p>
                From <Time at={counted.first} /> to <Time at={counted.last} />.
              </p>
            )}
          </div>
        )}
        <div class="actions">
          <button type="submit" name="go" value="count" class={counted === undefined ? 'main' : 'plain'}>
            Count events
          </button>
          <button type="submit" name="go" value="begin" class={counted === undefined ? 'plain' : 'main'}>
            Recover
          </button>
        </div>
      </Form>
    </Page>
  );
}

export function recoveryRoutes(app: ConsoleApp, { policy }: ConsoleDeps, { act }: WebhookPages): void {
  app.get('/webhooks/:id/recover', async (c) => {
    const webhook = await webhookOf(c);
    const { incident, lastDeactivation, registeredAt } = webhook;
    const at = lastDeactivation?.at ?? incident?.since;
    const deliveryId = lastDeactivation?.deliveryId ?? null;
    const earliest =
      at &&
      lostSince({ at: new Date(at), deliveryId }, new Date(registeredAt), policy.windowMs).toISOString();
    const since = c.req.query('since') ?? earliest?.slice(0, 16);
    const ticked = Object.fromEntries(usuallyRecovered.map((name) => [name, 'true']));
    return respond(c, <RecoverPage webhook={webhook} fields={{ since, ...ticked }} />);
  });

  app.post('/webhooks/:id/recover', async (c) => {
    const { form, api } = c.var;
    const include = recoverable.filter((name) => form[name] === 'true');
    const webhook = await webhookOf(c);
    const page = { webhook, fields: form };
    const until = form.until === '' ? undefined : fromField(form.until);
    const input = { since: fromField(form.since), ...(until === undefined ? {} : { until }), include };
    const dryRun = form.go !== 'begin';
    try {
      const path = `/v21/webhooks/${webhook.id}/recover`;
      const { data: counted } = await api.send(recoverAnswer, 'POST', path, { ...input, dryRun });
      return dryRun
        ? respond(c, <RecoverPage {...page} counted={counted} />)
        : c.redirect(`${CONSOLE}/webhooks/${webhook.id}?done=recovering`, 303);
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
}
