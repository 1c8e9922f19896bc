/** The release of a pre-order. */
import type { Pool } from '../src/db/connection/pool.ts';
import { readReleaseTime, releasePreOrder } from '../src/db/records/order-release.ts';
import { type Traces, traced } from '../src/traces/traces.ts';
import type { ReleaseActivities } from '../workflows/release-types.ts';

export function createReleaseActivities(deps: {
  readonly sql: Pool;
  readonly traces: Traces;
}): ReleaseActivities {
  return {
    readRelease: ({ eshopId, eshopOrderId }) => readReleaseTime(deps.sql, eshopId, eshopOrderId),
    async releaseOrder({ eshopId, eshopOrderId }) {
      // Time causes the release, not a request: the trace of its events begins here.
      return traced(deps.traces, { name: 'release pre-order', kind: 'INTERNAL', parent: null }, () =>
        releasePreOrder(deps.sql, eshopId, eshopOrderId),
      );
    },
  };
}
