/** The confirmations before a webhook is deactivated or deleted, or gets a new secret. */
import { shortTypes } from '../../domain/event-types.ts';
import type { RetryPolicy } from '../../domain/retry-policy.ts';
import type { WebhookRecord } from '../../domain/webhook.ts';
import { nameOf } from '../../domain/webhook-name.ts';
import { MAX_PAUSE_DAYS } from '../../domain/webhook-pause.ts';
import { typesOf } from '../../domain/webhook-types.ts';
import type { Query } from '../api-client.ts';
import { ConfirmPage } from '../confirm.tsx';
import { Input } from '../form-fields.tsx';
import type { Rejection } from '../problems.ts';
import { Time, windowText } from '../times.tsx';
import { OwnSecret } from './form.tsx';

interface Asked {
  readonly webhook: WebhookRecord;
  readonly policy: RetryPolicy;
  /** Until when the former secret signs too; null if there is none. */
  readonly overlapUntil: string | null;
  /** What was typed, and why it was refused. */
  readonly fields?: Query;
  readonly refused?: Rejection;
}

export const confirmations = {
  deactivate: ({ webhook, policy }: Asked) => (
    <ConfirmPage
      here="/webhooks"
      title={`Deactivate ${nameOf(webhook)}?`}
      button="Deactivate webhook"
      action={`/webhooks/${webhook.id}/deactivate`}
      back={`/webhooks/${webhook.id}`}
    >
      <p>
        Its open deliveries are held until it is active again, and their window of {windowText(policy)} keeps
        running. New {shortTypes(typesOf(webhook))} events are not delivered to it; you can recover them once
        it is active again.
      </p>
    </ConfirmPage>
  ),
  pause: ({ webhook, webhook: { id, pausedUntil }, policy, fields = {}, refused }: Asked) => (
    <ConfirmPage
      here="/webhooks"
      title={
        pausedUntil === null
          ? `Pause ${nameOf(webhook)}?`
          : `Move the end of the pause of ${nameOf(webhook)}?`
      }
      button={pausedUntil === null ? 'Pause webhook' : 'Move the end'}
      action={`/webhooks/${id}/pause`}
      refused={refused}
      fields={['until']}
      back={`/webhooks/${id}`}
    >
      <p>
        For a maintenance window of your receiver: events still create deliveries, but none is sent before the
        end. Nothing is lost, and the time counts neither as a failure nor against the window of a delivery (
        {windowText(policy)}).
      </p>
      <Input
        name="until"
        label={`Until (UTC; default: in ${MAX_PAUSE_DAYS} days, the longest)`}
        type="datetime-local"
        value={fields.until ?? pausedUntil?.slice(0, 16)}
      />
    </ConfirmPage>
  ),
  delete: ({ webhook, webhook: { id, url } }: Asked) => (
    <ConfirmPage
      here="/webhooks"
      title={`Delete ${nameOf(webhook)}?`}
      button="Delete webhook"
      action={`/webhooks/${id}/delete`}
      back={`/webhooks/${id}`}
    >
      <p class="wrap">
        Nothing more is sent to <strong>{url}</strong>. Open deliveries are canceled, and past deliveries can
        no longer be viewed or recovered. This cannot be undone.
      </p>
    </ConfirmPage>
  ),
  rotate: ({ webhook, webhook: { id }, overlapUntil, fields, refused }: Asked) => (
    <ConfirmPage
      here="/webhooks"
      title={`Regenerate the secret of ${nameOf(webhook)}?`}
      button="Regenerate secret"
      action={`/webhooks/${id}/rotate`}
      refused={refused}
      fields={['secret']}
      values={fields}
      back={`/webhooks/${id}`}
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
      <label class="check">
        <input type="checkbox" name="overlap" value="0" />
        <span>Stop using the current secret immediately, because it may have leaked</span>
      </label>
    </ConfirmPage>
  ),
} as const;
