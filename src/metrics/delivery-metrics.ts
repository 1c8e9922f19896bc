/** Counts the outcomes of attempts and deliveries. */
import { stretches } from '../attempt/stretches.ts';
import type { DeliveryWatch } from '../attempt/watch.ts';
import { type Metrics, statusClass } from './metrics.ts';

export function countDeliveries(metrics: Metrics): DeliveryWatch {
  return {
    attempted({ status, durationMs, toFirstByte }) {
      metrics.attempts.inc({ status: statusClass(status) });
      metrics.attemptDuration.observe(durationMs / 1_000);
      if (toFirstByte === null) return;
      let ms = 0;
      for (const stretch of stretches) {
        ms += toFirstByte[stretch];
        metrics.firstByteStretch.observe({ stretch }, toFirstByte[stretch] / 1_000);
      }
      metrics.firstByte.observe(ms / 1_000);
    },
    interrupted: () => metrics.interrupted.inc(),
    ended: (eventType, outcome) => metrics.deliveries.inc({ kind: eventType, outcome }),
    deactivated: ({ reason }) => metrics.deactivations.inc({ reason }),
  };
}
