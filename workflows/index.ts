/** All workflow types that a worker runs. */
export { activateWebhook } from './activate-webhook.ts';
export { deliverBatch } from './deliver-batch.ts';
export { deliverEvent } from './deliver-event.ts';
export { recoverMissed } from './recover-missed.ts';
export { recoverWebhook } from './recover-webhook.ts';
export { releasePreOrder } from './release-pre-order.ts';
export { retention } from './retention.ts';
export { testWebhook } from './test-webhook.ts';
export { warnOfDeactivation } from './warn-of-deactivation.ts';
