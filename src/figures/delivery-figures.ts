/** What becomes of attempts and deliveries, counted. */
import type { DeliveryWatch } from '../attempt/watch.ts';
import { type Figures, statusClass } from './figures.ts';

/** Counts what it hears. */
export function countDeliveries(figures: Figures): DeliveryWatch {
  return {
    attempted({ status, durationMs, firstByteMs }) {
      figures.attempts.inc({ status: statusClass(status) });
      figures.attemptDuration.observe(durationMs / 1_000);
      if (firstByteMs !== null) figures.firstByte.observe(firstByteMs / 1_000);
    },
    interrupted: () => figures.interrupted.inc(),
    ended: (kind, outcome, count = 1) => figures.deliveries.inc({ kind, outcome }, count),
    deactivated: ({ reason }) => figures.deactivations.inc({ reason }),
  };
}
