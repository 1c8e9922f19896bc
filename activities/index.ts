/**
 * Every activity, made from what it receives.
 * @module
 */
import type { Mailer } from '../src/mail/mail.ts';
import type { BatchActivities } from '../workflows/batch-types.ts';
import type { DeliveryActivities } from '../workflows/delivery-types.ts';
import type { RecoveryActivities } from '../workflows/recovery-types.ts';
import type { ReleaseActivities } from '../workflows/release-types.ts';
import type { RetentionActivities } from '../workflows/retention-types.ts';
import { type AttemptDeliveryDeps, createAttemptDelivery } from './attempt-delivery.ts';
import { type BatchStepsDeps, createBatchActivities } from './batch-steps.ts';
import { createDeliverySteps } from './delivery-steps.ts';
import { createMailDeactivation } from './mail-deactivation.ts';
import { createRecoveryActivities } from './recovery-steps.ts';
import { createReleaseActivities } from './release-order.ts';
import { createRetentionActivities, type RetentionDeps } from './retention.ts';

/** What the activities receive. */
export interface ActivityDeps extends AttemptDeliveryDeps, BatchStepsDeps, RetentionDeps {
  readonly mailer: Mailer;
}

/** Makes all activities of a worker. */
export function createActivities(
  deps: ActivityDeps,
): DeliveryActivities & BatchActivities & ReleaseActivities & RetentionActivities & RecoveryActivities {
  return {
    attemptDelivery: createAttemptDelivery(deps),
    ...createBatchActivities(deps),
    ...createDeliverySteps(deps),
    mailDeactivation: createMailDeactivation(deps),
    ...createReleaseActivities(deps),
    ...createRetentionActivities(deps),
    ...createRecoveryActivities(deps),
  };
}
