/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The timeline of a delivery: created, attempted, held, ended, and its next step. */
import type { Child } from 'hono/jsx';
import type * as v from 'valibot';
import type { DeliveryWithAttempts } from '../../api/deliveries/record.ts';
import type { DeliveryState } from '../../domain/delivery-state.ts';
import { Code, More, type Tone } from '../parts.tsx';
import { Due, duration, Time } from '../times.tsx';

type Shown = v.InferOutput<typeof DeliveryWithAttempts>;

interface Moment {
  readonly at: string;
  readonly tone: Tone | 'next';
  readonly title: Child;
  readonly beside?: Child;
  readonly below?: Child;
}

const ACTIONS = {
  tryNow: 'requested an immediate attempt',
  hold: 'held the delivery',
  resume: 'resumed the delivery',
  giveUp: 'gave up on the delivery',
} as const;

function attemptMoment(attempt: Shown['attempts'][number]): Moment {
  const { number, startedAt, durationMs, outcome, status, error, responseExcerpt } = attempt;
  const title =
    outcome === null
      ? `Attempt ${number} is in progress`
      : `Attempt ${number}: ${status === null ? 'no response' : `HTTP ${status}`}`;
  return {
    at: startedAt,
    tone: outcome === null ? 'busy' : outcome === 'success' ? 'good' : 'bad',
    title,
    beside: durationMs === null ? null : <span>{duration(durationMs)}</span>,
    below: (
      <>
        {error === null ? null : <p class="wrap">{error}</p>}
        {responseExcerpt === null || responseExcerpt === '' ? null : (
          <More id={`answer-${number}`} title="Show response" small>
            <Code text={responseExcerpt} named={`Response to attempt ${number}`} fold />
          </More>
        )}
      </>
    ),
  };
}

/** Why it was canceled, as far as known. */
function cancellation({ canceledBy, operatorActions }: Shown): string {
  if (canceledBy === 'deletion') return 'Canceled: its webhook was deleted';
  return operatorActions.some(({ action }) => action === 'giveUp')
    ? 'Canceled: it was given up'
    : 'Canceled by an operator of the warehouse';
}

function lastMoments(delivery: Shown, now: Date): Moment[] {
  const { state, finishedAt, nextAttemptAt, heldBy } = delivery;
  if (finishedAt !== null && state !== 'delivered') {
    const why: Partial<Record<DeliveryState, string>> = {
      failed: 'All retries failed',
      expired: 'Expired: its 48 hours ended through no fault of the receiver',
      canceled: cancellation(delivery),
      superseded: 'Superseded: a newer event of the record is sent in its place',
    };
    const tone = state === 'superseded' ? 'calm' : 'bad';
    return [{ at: finishedAt, tone, title: why[state] ?? state }];
  }
  if (finishedAt !== null) return [];
  if (state === 'held') {
    const pausedUntil = delivery.waitsFor?.reason === 'pause' ? delivery.waitsFor.nextAttemptAt : null;
    const byWebhook =
      pausedUntil === null
        ? 'Held: its webhook is inactive'
        : `Held: its webhook is paused until ${pausedUntil}`;
    const title =
      heldBy === null ? byWebhook : `Held by ${heldBy.by}${heldBy.reason === '' ? '' : `: ${heldBy.reason}`}`;
    return [{ at: '9', tone: 'calm', title }];
  }
  if (delivery.waitsFor?.reason === 'order')
    return [{ at: '9', tone: 'calm', title: 'Waits for an older event of its record' }];
  if (nextAttemptAt === null) return [];
  return [
    {
      at: '9',
      tone: 'next',
      title: 'Next attempt',
      beside: (
        <span>
          <Due at={nextAttemptAt} now={now} /> · <Time at={nextAttemptAt} />
        </span>
      ),
    },
  ];
}

export function Timeline({ delivery, now }: { delivery: Shown; now: Date }) {
  const moments: Moment[] = [
    { at: delivery.createdAt, tone: '', title: 'The delivery was created' },
    ...delivery.attempts.map(attemptMoment),
    ...delivery.operatorActions.map(({ action, by, reason, at }) => ({
      at,
      tone: 'calm' as const,
      title: `${by} ${ACTIONS[action]}`,
      below: reason === '' ? null : <p class="wrap">{reason}</p>,
    })),
    ...lastMoments(delivery, now),
  ];
  const ordered = moments.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  return (
    <ol class="line">
      {ordered.map(({ at, tone, title, beside, below }) => (
        <li class={tone}>
          <header>
            <strong>{title}</strong>
            {at === '9' ? null : <Time at={at} />}
            {beside}
          </header>
          {below}
        </li>
      ))}
    </ol>
  );
}
