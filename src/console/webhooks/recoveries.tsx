/** The recoveries of a webhook, on its page. */
import type * as v from 'valibot';
import type { recoveryRecord } from '../../api/webhooks/recovery-record.ts';
import { isUnderWay, type RecoveryAction, type RecoveryState } from '../../domain/recovery.ts';
import { capital } from '../../domain/text.ts';
import type { WebhookRecord } from '../../domain/webhook.ts';
import { RecoveryBadge } from '../badges.tsx';
import { Act } from '../layout.tsx';
import { Card } from '../parts.tsx';
import { Ago, Time } from '../times.tsx';

type Recovery = v.InferOutput<typeof recoveryRecord>;

/** What can be asked of one now. @param waits whether its webhook is inactive or paused: resuming changes nothing */
export function actionsOf(state: RecoveryState, waits: boolean): readonly RecoveryAction[] {
  if (!isUnderWay(state)) return [];
  if (state === 'running') return ['pause', 'cancel'];
  return waits ? ['cancel'] : ['resume', 'cancel'];
}

function Row({ recovery, waits }: { recovery: Recovery; waits: boolean }) {
  const { recoveryId, webhookId, state, reason, count, done, failed, superseded, left } = recovery;
  const { since, createdAt, estimatedEndAt } = recovery;
  return (
    <li>
      <p class="name">
        {done} of {count} delivered
      </p>
      <p class="more">
        <span>
          since <Time at={since} />
        </span>
        <span>{left} left</span>
        {failed === 0 ? null : <span>{failed} failed again</span>}
        {superseded === 0 ? null : <span>{superseded} superseded</span>}
        {estimatedEndAt === null ? null : (
          <span>
            ends <Ago at={estimatedEndAt} />
          </span>
        )}
        {reason === null ? null : <span>{reason}</span>}
      </p>
      <div class="end">
        <RecoveryBadge state={state} />
        <Ago at={createdAt} />
        <div class="acts">
          {actionsOf(state, waits).map((action) => (
            <Act action={`/webhooks/${webhookId}/recoveries/${recoveryId}/${action}`}>
              {capital(action)} recovery
            </Act>
          ))}
        </div>
      </div>
    </li>
  );
}

export function Recoveries(props: {
  recoveries: readonly Recovery[];
  webhook: Pick<WebhookRecord, 'active' | 'pausedUntil'>;
}) {
  const { recoveries, webhook } = props;
  const waits = !webhook.active || webhook.pausedUntil !== null;
  return (
    <Card id="recoveries" title="Recoveries" flush>
      <ul class="rows">
        {recoveries.map((recovery) => (
          <Row recovery={recovery} waits={waits} />
        ))}
      </ul>
    </Card>
  );
}
