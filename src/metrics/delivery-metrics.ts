/** What becomes of attempts and deliveries, counted. */
import type { DeliveryWatch } from '../attempt/watch.ts';
import { type Metrics, statusClass } from './metrics.ts';

export function countDeliveries(metrics: Metrics): DeliveryWatch {
  return {
    attempted({ status, durationMs, firstByteMs }) {
      metrics.attempts.inc({ status: statusClass(status) });
      metrics.attemptDuration.observe(durationMs / 1_000);
      if (firstByteMs !== null) metrics.firstByte.observe(firstByteMs / 1_000);
    },
    interrupted: () => metrics.interrupted.inc(),
    ended: (kind, outcome, count = 1) => metrics.deliveries.inc({ kind, outcome }, count),
    deactivated: ({ reason }) => metrics.deactivations.inc({ reason }),
  };
}
