/** The recoveries of a webhook, on its page. */
import type * as v from 'valibot';
import type { recoveryRecord } from '../../api/webhooks/recovery-record.ts';
import { isUnderWay } from '../../domain/recovery.ts';
import { RecoveryBadge } from '../badges.tsx';
import type { Viewer } from '../deps.ts';
import { Act } from '../layout.tsx';
import { Ago, Time } from '../times.tsx';

export function Recoveries(props: {
  recoveries: readonly v.InferOutput<typeof recoveryRecord>[];
  viewer: Viewer;
}) {
  const { recoveries, viewer } = props;
  return (
    <section class="card flush" aria-labelledby="recoveries">
      <h2 id="recoveries">Recoveries</h2>
      <ul class="rows">
        {recoveries.map(
          ({
            state,
            reason,
            done,
            failed,
            superseded,
            left,
            count,
            createdAt,
            since,
            estimatedEndAt,
            recoveryId,
            webhookId,
          }) => (
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
          ),
        )}
      </ul>
    </section>
  );
}
