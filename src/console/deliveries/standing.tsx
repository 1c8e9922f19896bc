/** Where a delivery stands, in one sentence. */
import type { Child } from 'hono/jsx';
import type * as v from 'valibot';
import type { Delivery, DeliveryWithAttempts } from '../../api/deliveries/record.ts';
import { howCanceled, limitReached } from '../../domain/delivery-state.ts';
import { duration } from '../../domain/duration.ts';
import { maxAttempts, type RetryPolicy } from '../../domain/retry-policy.ts';
import type { Role } from '../../domain/role.ts';
import type { WebhookRecord } from '../../domain/webhook.ts';
import { whyDeactivated } from '../../domain/webhook-facts.ts';
import type { Viewer } from '../deps.ts';
import { CONSOLE } from '../session.ts';
import { Ago, Due, Time } from '../times.tsx';
import { useViewer } from '../viewer.ts';
import { whoAsked } from './actions.ts';

export type Shown = v.InferOutput<typeof DeliveryWithAttempts>;

export interface StandingProps {
  readonly delivery: Shown;
  readonly webhook: Pick<WebhookRecord, 'id' | 'active' | 'lastDeactivation'>;
  readonly policy: RetryPolicy;
  /** Whether it expired because of a failure of Waybill itself. */
  readonly windowLost: boolean;
}

function deliveryLink(id: string, text: string): Child {
  return <a href={`${CONSOLE}/deliveries/${id}`}>{text}</a>;
}

/**
 * Why it expired (docs/interface.md, D9 and D10): a failure of Waybill, an operator's hold, or otherwise an inactive
 * webhook. If there may be two causes, the certain one is named.
 */
function expiry({ delivery, webhook, policy, windowLost }: StandingProps, viewer: Role): string {
  const ended = `Its window of ${duration(policy.windowMs)} ended`;
  if (windowLost) return `${ended} during a failure of Waybill itself.`;
  const { operatorActions, finishedAt } = delivery;
  const { lastDeactivation: last } = webhook;
  const stop = operatorActions.findLast(({ action }) => action === 'hold' || action === 'resume');
  if (stop?.action === 'hold') {
    const who = whoAsked(stop.by, viewer);
    return `${ended} while it was held by ${who}${stop.reason === '' ? '.' : `: ${stop.reason}`}`;
  }
  if (last !== null && finishedAt !== null && last.at <= finishedAt)
    return `${ended} while its webhook was inactive, deactivated ${whyDeactivated[last.reason]}.`;
  if (stop !== undefined) return `${ended}: an operator had held it too long for its retries.`;
  return `${ended} while its webhook was inactive.`;
}

function whyHeld({ heldBy, waitsFor }: Shown, viewer: Role): Child {
  if (heldBy !== null) {
    const who = whoAsked(heldBy.by, viewer);
    return `Held by ${who}${heldBy.reason === '' ? '.' : `: ${heldBy.reason}`}`;
  }
  if (waitsFor?.reason !== 'pause' || waitsFor.nextAttemptAt === null)
    return 'Held: its webhook is inactive.';
  return (
    <>
      Held: its webhook is paused until <Time at={waitsFor.nextAttemptAt} />.
    </>
  );
}

/** Why a delivery in a list is held or waits, in a few words; nothing if only its next attempt is awaited. */
export function WaitReason({ delivery }: { delivery: v.InferOutput<typeof Delivery> }) {
  const { state, heldBy, waitsFor } = delivery;
  const { role } = useViewer().session;
  if (state === 'held') {
    if (heldBy !== null) return <span>held by {whoAsked(heldBy.by, role)}</span>;
    if (waitsFor?.reason !== 'pause' || waitsFor.nextAttemptAt === null) return <span>webhook inactive</span>;
    return (
      <span>
        webhook paused until <Time at={waitsFor.nextAttemptAt} />
      </span>
    );
  }
  return waitsFor === null ? null : <span>{WAITS[waitsFor.reason]}</span>;
}

/** For a delivery that is not held: a paused webhook would hold it. */
const WAITS = {
  order: 'waits for an older event',
  limit: 'waits for other requests',
  pause: 'its recovery is paused',
} as const;

export function standingOf(props: StandingProps, { now, session: { role } }: Viewer): Child {
  const { delivery, policy } = props;
  const { state, attemptsMade, nextAttemptAt, finishedAt, canceledBy, supersededBy, waitsFor } = delivery;
  switch (state) {
    case 'held':
      return whyHeld(delivery, role);
    case 'pending':
    case 'retrying':
      if (waitsFor?.reason === 'order') {
        const older = waitsFor.deliveryId;
        return (
          <>
            Waits for {older === null ? 'an older event' : deliveryLink(older, 'an older event')} of its
            record.
          </>
        );
      }
      if (waitsFor?.reason === 'limit') return `Waits for other requests: ${limitReached}.`;
      if (waitsFor?.reason === 'pause')
        return (
          <>
            Waits for <a href={`${CONSOLE}/webhooks/${delivery.webhookId}`}>its recovery</a>, which is paused.
          </>
        );
      if (nextAttemptAt === null || attemptsMade === 0) return 'Waits for its next attempt.';
      return (
        <>
          Attempt {attemptsMade + 1} of {maxAttempts(policy)}{' '}
          {new Date(nextAttemptAt) > now ? 'follows ' : ''}
          <Due at={nextAttemptAt} />.
        </>
      );
    case 'delivered':
      return (
        <>
          Delivered {finishedAt === null ? null : <Ago at={finishedAt} />}, at attempt {attemptsMade}.
        </>
      );
    case 'failed':
      return delivery.attempts.at(-1)?.outcome === 'gone'
        ? 'The receiver is gone: HTTP 410.'
        : 'All retries failed.';
    case 'expired':
      return expiry(props, role);
    case 'canceled':
      return canceledBy === null ? 'Canceled.' : `Canceled ${howCanceled[canceledBy]}.`;
    case 'superseded':
      return (
        <>
          Superseded: {supersededBy === null ? 'a newer event' : deliveryLink(supersededBy, 'a newer event')}{' '}
          of the record is sent in its place.
        </>
      );
  }
}
