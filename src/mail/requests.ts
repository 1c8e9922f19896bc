/** The requests that mails name. */
import type { ApiRequest } from './mail-template.ts';

/** Switches a webhook on or off. */
export const activation = (webhookId: number, name: 'activate' | 'deactivate'): ApiRequest => ({
  method: 'PUT',
  operation: `/v21/webhooks/{id}/${name}`,
  path: `/v21/webhooks/${webhookId}/${name}`,
});

/** A delivery with its attempts. */
export const readDelivery = (deliveryId: string): ApiRequest => ({
  method: 'GET',
  operation: '/v21/deliveries/{id}',
  path: `/v21/deliveries/${deliveryId}`,
});

/** What is being retried of a webhook. */
export const listRetried = (webhookId: number): ApiRequest => ({
  method: 'GET',
  operation: '/v21/webhooks/{id}/deliveries',
  path: `/v21/webhooks/${webhookId}/deliveries?state=retrying`,
});

/** Tries a webhook. */
export const tryWebhook = (webhookId: number): ApiRequest => ({
  method: 'POST',
  operation: '/v21/webhooks/{id}/test',
  path: `/v21/webhooks/${webhookId}/test`,
});

/** Ends the warnings. */
export const noWarnings: ApiRequest = {
  method: 'PATCH',
  operation: '/v21/eshop',
  path: '/v21/eshop',
  body: '{"notifications": {"warning": false}}',
};
