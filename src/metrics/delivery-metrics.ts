/** Counts the outcomes of attempts and deliveries. */
import { phases } from '../attempt/phases.ts';
import type { DeliveryWatch } from '../attempt/watch.ts';
import { type Metrics, statusClass } from './metrics.ts';

export function countDeliveries(metrics: Metrics): DeliveryWatch {
  return {
    attempted({ status, durationMs, toFirstByte }) {
      metrics.attempts.inc({ status: statusClass(status) });
      metrics.attemptDuration.observe(durationMs / 1_000);
      if (toFirstByte === null) return;
      let ms = 0;
      for (const phase of phases) {
        ms += toFirstByte[phase];
        metrics.firstBytePhase.observe({ phase }, toFirstByte[phase] / 1_000);
      }
      metrics.firstByte.observe(ms / 1_000);
    },
    interrupted: () => metrics.interrupted.inc(),
    ended: (eventType, outcome) => metrics.deliveries.inc({ event_type: eventType, outcome }),
    deactivated: ({ reason }) => metrics.deactivations.inc({ reason }),
    alarmed: ({ alarm }) => metrics.alarms.inc({ alarm }),
  };
}
