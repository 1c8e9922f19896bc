/**
 * The release of a pre-order.
 * @module
 */

import { readOrderRelease, releasePreOrder } from '../src/db/order-release.ts';
import type { Pool } from '../src/db/pool.ts';
import type { ReleaseActivities } from '../workflows/release-types.ts';

/** Makes the activities of `releasePreOrder`. */
export function createReleaseActivities(deps: { sql: Pool; notifyOutbox: () => void }): ReleaseActivities {
  return {
    async readRelease({ eshopId, eshopOrderId }) {
      const pending = await readOrderRelease(deps.sql, eshopId, eshopOrderId);
      return pending === null ? null : { releaseAt: pending.releaseAt?.getTime() ?? null };
    },
    async releaseOrder({ eshopId, eshopOrderId, dueMs }) {
      const released = await releasePreOrder(deps.sql, eshopId, eshopOrderId, { due: new Date(dueMs) });
      if (released) deps.notifyOutbox();
      return released;
    },
  };
}
