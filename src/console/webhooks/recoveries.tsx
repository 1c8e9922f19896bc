/** The recoveries of a webhook, on its page. */
import type * as v from 'valibot';
import type { recoveryRecord } from '../../api/webhooks/recovery-record.ts';
import { isUnderWay } from '../../domain/recovery.ts';
import { RecoveryBadge } from '../badges.tsx';
import type { Viewer } from '../deps.ts';
import { Act } from '../layout.tsx';
import { Ago, Time } from '../times.tsx';

type Recovery = v.InferOutput<typeof recoveryRecord>;

function Row({ recovery, viewer }: { recovery: Recovery; viewer: Viewer }) {
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
            ends <Ago at={estimatedEndAt} now={viewer.now} />
          </span>
        )}
        {reason === null ? null : <span>{reason}</span>}
      </p>
      <div class="end">
        <RecoveryBadge state={state} />
        <Ago at={createdAt} now={viewer.now} />
        {isUnderWay(state) ? (
          <Act action={`/webhooks/${webhookId}/recoveries/${recoveryId}/cancel`} viewer={viewer}>
            Cancel recovery
          </Act>
        ) : null}
      </div>
    </li>
  );
}

export function Recoveries({ recoveries, viewer }: { recoveries: readonly Recovery[]; viewer: Viewer }) {
  return (
    <section class="card flush" aria-labelledby="recoveries">
      <h2 id="recoveries">Recoveries</h2>
      <ul class="rows">
        {recoveries.map((recovery) => (
          <Row recovery={recovery} viewer={viewer} />
        ))}
      </ul>
    </section>
  );
}
