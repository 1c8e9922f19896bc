/** Where a delivery stands, and what can be done: the most useful first. */
import type { Child } from 'hono/jsx';
import type * as v from 'valibot';
import type { DeliveryWithAttempts } from '../../api/deliveries/record.ts';
import { type ActionName, MAX_REASON_CHARS } from '../../domain/operator-action.ts';
import type { WebhookRecord } from '../../domain/webhook.ts';
import { queryText } from '../api-client.ts';
import type { Viewer } from '../deps.ts';
import { Input } from '../form-fields.tsx';
import { Csrf } from '../layout.tsx';
import { LivePart } from '../live-parts.tsx';
import { CONSOLE } from '../session.ts';
import { Ago, Due, Time } from '../times.tsx';
import { ACTIONS, isUnderWay, whoAsked } from './actions.ts';

export type Shown = v.InferOutput<typeof DeliveryWithAttempts>;

export interface NextProps {
  readonly delivery: Shown;
  readonly webhook: Pick<WebhookRecord, 'id' | 'active' | 'lastDeactivation'>;
  readonly viewer: Viewer;
  /** The actions that would be accepted now and are allowed to the viewer. */
  readonly offered: readonly ActionName[];
  readonly maxAttempts: number;
}

function deliveryLink(id: string, text: string): Child {
  return <a href={`${CONSOLE}/deliveries/${id}`}>{text}</a>;
}

/** Why it was canceled, as far as known. */
function cancellation({ canceledBy, operatorActions }: Shown): string {
  if (canceledBy === 'deletion') return 'Canceled: its webhook was deleted.';
  return operatorActions.some(({ action }) => action === 'giveUp')
    ? 'Canceled: it was given up.'
    : 'Canceled by an operator of the warehouse.';
}

function Held({ delivery: { heldBy, waitsFor }, viewer }: NextProps) {
  if (heldBy !== null) {
    const who = whoAsked(heldBy.by, viewer.session.role);
    return <>{`Held by ${who}${heldBy.reason === '' ? '.' : `: ${heldBy.reason}`}`}</>;
  }
  if (waitsFor?.reason !== 'pause' || waitsFor.nextAttemptAt === null)
    return <>Held: its webhook is inactive.</>;
  return (
    <>
      Held: its webhook is paused until <Time at={waitsFor.nextAttemptAt} />.
    </>
  );
}

function Standing(props: NextProps) {
  const { delivery, viewer, maxAttempts } = props;
  const { state, attemptsMade, nextAttemptAt, finishedAt, supersededBy, waitsFor } = delivery;
  switch (state) {
    case 'held':
      return <Held {...props} />;
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
      if (waitsFor?.reason === 'limit')
        return <>Waits for its receiver, which has as many requests under way as it takes.</>;
      if (nextAttemptAt === null || attemptsMade === 0) return <>Waits for its next attempt.</>;
      return (
        <>
          Attempt {attemptsMade + 1} of {maxAttempts} {new Date(nextAttemptAt) > viewer.now ? 'follows ' : ''}
          <Due at={nextAttemptAt} now={viewer.now} />.
        </>
      );
    case 'delivered':
      return (
        <>
          Delivered {finishedAt === null ? null : <Ago at={finishedAt} now={viewer.now} />}, at attempt{' '}
          {attemptsMade}.
        </>
      );
    case 'failed':
      return (
        <>
          {delivery.attempts.at(-1)?.outcome === 'gone'
            ? 'The receiver is gone: HTTP 410.'
            : 'All retries failed.'}
        </>
      );
    case 'expired':
      return <>Its 48 hours ended through no fault of the receiver.</>;
    case 'canceled':
      return <>{cancellation(delivery)}</>;
    case 'superseded':
      return (
        <>
          Superseded: {supersededBy === null ? 'a newer event' : deliveryLink(supersededBy, 'a newer event')}{' '}
          of the record is sent in its place.
        </>
      );
  }
}

/** Whether its webhook lost more than this delivery: it was deactivated by failures since. */
function lostMore({ delivery, webhook: { lastDeactivation } }: NextProps): boolean {
  return (
    lastDeactivation !== null &&
    lastDeactivation.reason !== 'user' &&
    lastDeactivation.at > delivery.createdAt
  );
}

function Activate({ webhookId }: { webhookId: number }) {
  return (
    <button
      type="submit"
      formaction={`${CONSOLE}/webhooks/${webhookId}/activate`}
      class="main"
      id="do-activate"
    >
      Activate webhook
    </button>
  );
}

/** After its end. Only an active webhook can be sent anything. */
function AfterEnd(props: NextProps) {
  const { delivery, webhook } = props;
  const { id, state, createdAt } = delivery;
  if (!webhook.active) return <Activate webhookId={webhook.id} />;
  const isFine = state === 'delivered' || state === 'superseded';
  const recovers = !isFine && lostMore(props);
  const redeliver = (
    <button
      type="submit"
      formaction={`${CONSOLE}/deliveries/${id}/redeliver`}
      class={isFine || recovers ? 'plain' : 'main'}
      id="do-redeliver"
    >
      Redeliver
    </button>
  );
  const recover = isFine ? null : (
    <a
      class={`button ${recovers ? 'main' : ''}`}
      href={`${CONSOLE}/webhooks/${webhook.id}/recover${queryText({ since: createdAt.slice(0, 16) })}`}
    >
      Recover
    </a>
  );
  return (
    <>
      {recovers ? recover : redeliver}
      {recovers ? redeliver : recover}
    </>
  );
}

function WhileOpen({ delivery: { id, heldBy }, webhook, offered }: NextProps) {
  return (
    <>
      {ACTIONS.filter(([action]) => offered.includes(action)).map(([action, name]) => (
        <button
          type="submit"
          name="action"
          value={action}
          class={action === 'hold' ? 'plain' : 'main'}
          id={`do-${action}`}
        >
          {name}
        </button>
      ))}
      {webhook.active || heldBy !== null ? null : <Activate webhookId={webhook.id} />}
      {offered.includes('giveUp') ? (
        <a class="button danger" href={`${CONSOLE}/deliveries/${id}/give-up`}>
          Give up
        </a>
      ) : null}
    </>
  );
}

export function Reason({ viewer }: { viewer: Viewer }) {
  const label = viewer.session.role === 'warehouse' ? 'Reason (the e-shop sees it)' : 'Reason (optional)';
  return <Input name="reason" label={label} maxlength={MAX_REASON_CHARS} />;
}

/** One form for all of it: each button says where it goes. */
export function Next(props: NextProps) {
  const { delivery, viewer } = props;
  const isOpen = isUnderWay(delivery.state);
  return (
    <form
      method="post"
      action={`${CONSOLE}/deliveries/${delivery.id}/act`}
      class="card next"
      aria-label="Where it stands"
    >
      <Csrf token={viewer.csrf} />
      <LivePart id="next">
        <p>
          <strong class="wrap">
            <Standing {...props} />
          </strong>
          {isOpen || props.webhook.active ? null : <span class="quiet"> Its webhook is inactive.</span>}
        </p>
        <div class="acts">{isOpen ? <WhileOpen {...props} /> : <AfterEnd {...props} />}</div>
      </LivePart>
      {/* Beside the part that refreshes itself, which would empty it. */}
      {isOpen && viewer.session.role === 'warehouse' ? <Reason viewer={viewer} /> : null}
    </form>
  );
}
