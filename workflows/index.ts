/** Every workflow type that a worker runs. */
export { deliverBatch } from './deliver-batch.ts';
export { deliverEvent } from './deliver-event.ts';
export { recoverWebhook } from './recover-webhook.ts';
export { releasePreOrder } from './release-pre-order.ts';
export { retention } from './retention.ts';
