/** All activities, made from their dependencies. */
import { type AttemptDeliveryDeps, createAttemptDelivery } from './attempt-delivery.ts';
import { createNoticeActivities, type NoticeDeps } from './deliver-notice.ts';
import { createDeliverySteps, type DeliveryStepsDeps } from './delivery-steps.ts';
import { createRecoveryActivities } from './recovery-steps.ts';
import { createReleaseActivities } from './release-order.ts';
import { createRetentionActivities, type RetentionDeps } from './retention.ts';

interface ActivityDeps
  extends AttemptDeliveryDeps,
    DeliveryStepsDeps,
    RetentionDeps,
    Omit<NoticeDeps, 'mailsUnderWay'> {}

/** Makes all activities: the attempts, and the steps, which have their own task queue. */
export function createActivities(deps: ActivityDeps) {
  const mailing = { ...deps, mailsUnderWay: { count: 0 } };
  return {
    attempts: { attemptDelivery: createAttemptDelivery(deps) },
    steps: {
      ...createDeliverySteps(deps),
      ...createNoticeActivities(mailing),
      ...createReleaseActivities(deps),
      ...createRetentionActivities(deps),
      ...createRecoveryActivities(deps),
    },
  };
}
