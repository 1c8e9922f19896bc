/** The history of a delivery, latest first, one line each, with responses folded. */
import type { Child } from 'hono/jsx';
import { duration } from '../../domain/duration.ts';
import type { Role } from '../../domain/role.ts';
import { capital } from '../../domain/text.ts';
import type { Tone } from '../badges.tsx';
import { Code } from '../parts.tsx';
import { Time } from '../times.tsx';
import { useViewer } from '../viewer.ts';
import { ACTION_TEXTS, whoAsked } from './actions.ts';
import type { Shown } from './standing.tsx';

interface Moment {
  readonly at: string;
  readonly tone: Tone;
  readonly line: Child;
  readonly id?: string;
  /** The details shown on demand. */
  readonly more?: Child;
}

function attemptMoment(attempt: Shown['attempts'][number]): Moment {
  const { number, startedAt, durationMs, outcome, status, error, responseExcerpt } = attempt;
  const result =
    outcome === null ? 'in progress' : status === null ? (error ?? 'no response') : `HTTP ${status}`;
  const response = responseExcerpt ?? '';
  return {
    at: startedAt,
    tone: outcome === null ? 'busy' : outcome === 'success' ? 'good' : 'bad',
    line: (
      <>
        <strong class="wrap">
          Attempt {number}: {result}
        </strong>
        {durationMs === null ? null : <span>{duration(durationMs)}</span>}
      </>
    ),
    id: `response-${number}`,
    more:
      response === '' ? null : (
        <>
          {error === null ? null : <p class="quiet small wrap">{error}</p>}
          <Code text={response} label={`Response to attempt ${number}`} fold />
        </>
      ),
  };
}

function actionMoment({ action, by, reason, at }: Shown['operatorActions'][number], viewer: Role): Moment {
  const requester = whoAsked(by, viewer);
  // The name of an account stays as it is.
  const who = requester === by ? by : capital(requester);
  return {
    at,
    tone: 'calm',
    line: (
      <>
        <strong>
          {who} {ACTION_TEXTS[action][1]}
        </strong>
        {reason === '' ? null : <span class="wrap">{reason}</span>}
      </>
    ),
  };
}

export function Timeline({ delivery }: { delivery: Shown }) {
  const { role } = useViewer().session;
  const moments: Moment[] = [
    { at: delivery.createdAt, tone: '', line: <strong>Created</strong> },
    ...delivery.attempts.map(attemptMoment),
    ...delivery.operatorActions.map((action) => actionMoment(action, role)),
  ];
  const ordered = moments.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)).reverse();
  return (
    <ol class="line">
      {ordered.map(({ at, tone, line, id = '', more = null }) => {
        const content = (
          <>
            {line}
            <Time at={at} />
          </>
        );
        return (
          <li class={tone}>
            {more === null ? (
              <p class="moment">{content}</p>
            ) : (
              <details id={id}>
                <summary class="moment">{content}</summary>
                {more}
              </details>
            )}
          </li>
        );
      })}
    </ol>
  );
}
