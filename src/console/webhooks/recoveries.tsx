/** The recoveries of a webhook, on its page. */
import type { Child } from 'hono/jsx';
import type * as v from 'valibot';
import type { recoveryRecord } from '../../api/webhooks/recovery-record.ts';
import { isUnderWay, type RecoveryAction, type RecoveryState } from '../../domain/recovery.ts';
import { capital } from '../../domain/text.ts';
import type { WebhookRecord } from '../../domain/webhook.ts';
import { RecoveryBadge } from '../badges.tsx';
import { ActionButton } from '../layout.tsx';
import { Card } from '../parts.tsx';
import { Ago, Time } from '../times.tsx';

type Recovery = v.InferOutput<typeof recoveryRecord>;

/** The actions that it accepts now. @param waits whether its webhook is inactive or paused: resuming has no effect */
export function actionsOf(state: RecoveryState, waits: boolean): readonly RecoveryAction[] {
  if (!isUnderWay(state)) return [];
  if (state === 'running') return ['pause', 'cancel'];
  return waits ? ['cancel'] : ['resume', 'cancel'];
}

/**
 * A recovery in a list.
 * @param about the events that it recovers, shown before its progress
 * @param begun when it began
 * @param children its buttons
 */
export function RecoveryRow(props: {
  recovery: Pick<
    Recovery,
    'state' | 'reason' | 'count' | 'done' | 'failed' | 'superseded' | 'left' | 'estimatedEndAt'
  >;
  about: Child;
  begun: Child;
  children: Child;
}) {
  const { recovery, about, begun, children } = props;
  const { state, reason, count, done, failed, superseded, left, estimatedEndAt } = recovery;
  const shown = (number: number) => number.toLocaleString('en-US');
  return (
    <li>
      <p class="name">
        {shown(done)} of {shown(count)} delivered
      </p>
      <p class="more">
        {about}
        <span>{shown(left)} left</span>
        {failed === 0 ? null : <span>{shown(failed)} failed again</span>}
        {superseded === 0 ? null : <span>{shown(superseded)} superseded</span>}
        {estimatedEndAt === null ? null : (
          <span>
            ends <Ago at={estimatedEndAt} />
          </span>
        )}
        {reason === null ? null : <span>{reason}</span>}
      </p>
      <div class="end">
        <RecoveryBadge state={state} />
        {begun}
        <div class="actions">{children}</div>
      </div>
    </li>
  );
}

export function Recoveries(props: {
  recoveries: readonly Recovery[];
  webhook: Pick<WebhookRecord, 'id' | 'active' | 'pausedUntil'>;
}) {
  const { recoveries, webhook } = props;
  const waits = !webhook.active || webhook.pausedUntil !== null;
  return (
    <Card id="recoveries" title="Recoveries" flush>
      <ul class="rows">
        {recoveries.map((recovery) => (
          <RecoveryRow
            recovery={recovery}
            about={
              <span>
                since <Time at={recovery.since} />
              </span>
            }
            begun={<Ago at={recovery.createdAt} />}
          >
            {actionsOf(recovery.state, waits).map((action) => (
              <ActionButton action={`/webhooks/${webhook.id}/recoveries/${recovery.recoveryId}/${action}`}>
                {capital(action)} recovery
              </ActionButton>
            ))}
          </RecoveryRow>
        ))}
      </ul>
    </Card>
  );
}
