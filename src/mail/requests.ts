/** The requests that mails name. */
import type { ApiRequest } from './mail-template.ts';

export const activation = (webhookId: number, name: 'activate' | 'deactivate'): ApiRequest => ({
  method: 'PUT',
  operation: `/v21/webhooks/{id}/${name}`,
  path: `/v21/webhooks/${webhookId}/${name}`,
});

export const regenerateSecret = (webhookId: number): ApiRequest => ({
  method: 'PUT',
  operation: '/v21/webhooks/{id}/regenerate-secret',
  path: `/v21/webhooks/${webhookId}/regenerate-secret`,
});

export const replaceWebhook = (webhookId: number): ApiRequest => ({
  method: 'PUT',
  operation: '/v21/webhooks/{id}',
  path: `/v21/webhooks/${webhookId}`,
});

export const readDelivery = (deliveryId: string): ApiRequest => ({
  method: 'GET',
  operation: '/v21/deliveries/{id}',
  path: `/v21/deliveries/${deliveryId}`,
});

export const listRetried = (webhookId: number): ApiRequest => ({
  method: 'GET',
  operation: '/v21/webhooks/{id}/deliveries',
  path: `/v21/webhooks/${webhookId}/deliveries?state=retrying`,
});

export const sendTest = (webhookId: number): ApiRequest => ({
  method: 'POST',
  operation: '/v21/webhooks/{id}/test',
  path: `/v21/webhooks/${webhookId}/test`,
});

export const noWarnings: ApiRequest = {
  method: 'PATCH',
  operation: '/v21/eshop',
  path: '/v21/eshop',
  body: '{"notifications": {"warning": false}}',
};
