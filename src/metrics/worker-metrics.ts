/** Counts the work of a worker: attempts and deliveries, relay, reconciler and mailer. */
import { phases } from '../attempt/phases.ts';
import type { DeliveryWatch } from '../attempt/watch.ts';
import { attemptClasses } from '../db/outbox/notify.ts';
import { MailError, type Mailer } from '../mail/mail.ts';
import type { Repair } from '../reconciler/repair.ts';
import { repairsMade } from '../reconciler/verdict.ts';
import { type ClassName, type RelayLoop, relayLoops, workflowClasses } from '../relay/classes.ts';
import { type PassResult, passResults } from '../relay/loop.ts';
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

export function countPasses({ passes }: Metrics): (loop: RelayLoop, result: PassResult) => void {
  for (const loop of relayLoops) for (const result of passResults) passes.inc({ loop, result }, 0);
  return (loop, result) => passes.inc({ loop, result });
}

/** Records when each class of the queue was last claimed; a class that never was shows the time of the start. */
export function recordClaims({ claimedAt }: Metrics): (waiting: ClassName) => void {
  for (const waiting of [...attemptClasses, ...workflowClasses]) claimedAt.setToCurrentTime({ waiting });
  return (waiting) => claimedAt.setToCurrentTime({ waiting });
}

export function countRepairs({ repairs }: Metrics): (repair: Repair) => void {
  for (const { kind, action, reason } of repairsMade) repairs.inc({ workflow: kind, action, reason }, 0);
  return ({ kind, action, reason }) => repairs.inc({ workflow: kind, action, reason });
}

/** Counts the outcomes of tries to send a mail, except those given up because the process stops. */
export function countMails({ mails }: Metrics, mailer: Mailer): Mailer {
  return {
    async send(mail, signal) {
      try {
        await mailer.send(mail, signal);
      } catch (error) {
        if (signal?.aborted !== true) {
          mails.inc({ outcome: error instanceof MailError && error.refused ? 'refused' : 'failed' });
        }
        throw error;
      }
      mails.inc({ outcome: 'sent' });
    },
  };
}
