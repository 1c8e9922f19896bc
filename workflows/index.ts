/** All workflow types that a worker runs. */
export { deliverEvent } from './deliver-event.ts';
export { notifyEshop } from './notify-eshop.ts';
export { recoverWebhook } from './recover-webhook.ts';
export { releasePreOrder } from './release-pre-order.ts';
export { retention } from './retention.ts';
