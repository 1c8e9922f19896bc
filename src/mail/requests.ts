/** The API requests named in mails. */
import type { ApiRequest } from './mail-template.ts';

/** @param id replaces `{id}` in the operation */
const request = (method: ApiRequest['method'], operation: string, id: number | string = ''): ApiRequest => ({
  method,
  operation,
  path: operation.replace('{id}', String(id)),
});

export const activation = (webhookId: number, name: 'activate' | 'deactivate') =>
  request('PUT', `/v21/webhooks/{id}/${name}`, webhookId);

export const regenerateSecret = (webhookId: number) =>
  request('PUT', '/v21/webhooks/{id}/regenerate-secret', webhookId);

export const newNoticeSecret: ApiRequest = {
  ...request('PATCH', '/v21/eshop'),
  body: '{"notifications": {"secret": null}}',
};

export const listSigningKeys = request('GET', '/v21/eshop/signing-keys');

export const replaceWebhook = (webhookId: number) => request('PUT', '/v21/webhooks/{id}', webhookId);

export const readDelivery = (deliveryId: string) => request('GET', '/v21/deliveries/{id}', deliveryId);

export const sendTest = (webhookId: number) => request('POST', '/v21/webhooks/{id}/test', webhookId);

export const listRetried = (webhookId: number): ApiRequest => {
  const list = request('GET', '/v21/webhooks/{id}/deliveries', webhookId);
  return { ...list, path: `${list.path}?state=retrying` };
};

const recovery = (webhookId: number, body: string): ApiRequest => ({
  ...request('POST', '/v21/webhooks/{id}/recover', webhookId),
  body,
});

export const countRecovery = (webhookId: number, since: Date) =>
  recovery(webhookId, `{"since": "${since.toISOString()}", "dryRun": true}`);
export const recover = (webhookId: number, since: Date) =>
  recovery(webhookId, `{"since": "${since.toISOString()}"}`);

const without = (kind: string): ApiRequest => ({
  ...request('PATCH', '/v21/eshop'),
  body: `{"notifications": {"${kind}": false}}`,
});

export const noWarnings = without('warning');
export const noRecoveredNotices = without('recovered');
