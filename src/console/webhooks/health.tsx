/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** How a webhook is doing. */
import type { WebhookRecord } from '../../domain/webhook.ts';
import { Badge } from '../parts.tsx';
import { CONSOLE } from '../session.ts';
import { Ago } from '../times.tsx';

export function Health({ webhook: { active, incident } }: { webhook: WebhookRecord }) {
  if (!active) return <Badge tone="calm">inactive</Badge>;
  return incident === null ? <Badge tone="good">active</Badge> : <Badge tone="bad">failing</Badge>;
}

const REASONS = {
  user: 'on request',
  retriesExhausted: 'because all retries of a delivery failed',
  gone: 'because its receiver responded with 410 Gone',
} as const;

/** What is wrong, in sentences; nothing where nothing is. */
export function Trouble({ webhook, now }: { webhook: WebhookRecord; now: Date }) {
  const { active, incident, lastDeactivation } = webhook;
  if (incident !== null) {
    const { since, failures, lastError, deactivationAt } = incident;
    return (
      <div class="note warn">
        <p>
          <strong>
            Started failing <Ago at={since} now={now} />
          </strong>
          : {failures} failed {failures === 1 ? 'attempt' : 'attempts'}
          {lastError === null ? '.' : `, the last with “${lastError}”.`}
        </p>
        {deactivationAt === null ? null : (
          <p>
            If no delivery is accepted until then, the webhook will be deactivated{' '}
            <Ago at={deactivationAt} now={now} />.
          </p>
        )}
      </div>
    );
  }
  if (active || lastDeactivation === null) return null;
  const { at, reason, deliveryId, lastError } = lastDeactivation;
  return (
    <div class="note warn">
      <p>
        Deactivated <Ago at={at} now={now} />, {REASONS[reason]}
        {lastError === null ? '.' : `: “${lastError}”.`}{' '}
        {deliveryId === null ? null : <a href={`${CONSOLE}/deliveries/${deliveryId}`}>View the delivery</a>}
      </p>
      <p>
        While it is inactive, open deliveries are held and new events are not delivered. Activate it, then
        recover what it missed.
      </p>
    </div>
  );
}
