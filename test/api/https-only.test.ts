/** With WEBHOOK_HTTPS_ONLY (docs/interface.md, W25) webhooks from before stay, and nothing new is http. */
import { expect, test } from 'vitest';
import { configuredGuard } from '../../src/app/outgoing.ts';
import { loadConfig } from '../../src/config/config.ts';
import { createOwnEndpoints } from '../../src/delivery/own-endpoints.ts';
import { minimalWebhook } from '../support/api/webhooks.ts';
import { apiOfFile } from '../support/lifetimes.ts';

let httpsOnly = false;
const destinationProblem = (url: string, before?: string) =>
  configuredGuard(loadConfig({ WEBHOOK_HTTPS_ONLY: String(httpsOnly) }), createOwnEndpoints())(url, before);
const api = await apiOfFile({ destinationProblem });

test('http is refused for new and moved webhooks; existing http webhooks may change otherwise', async () => {
  const plain = { ...minimalWebhook, url: 'http://shop.example/hook' };
  const { id } = (await api.shop('POST', '/v21/webhooks', plain)).data;
  httpsOnly = true;
  const refused = { status: 400, body: { message: 'url: must be https: this service accepts nothing else' } };
  expect(await api.shop('POST', '/v21/webhooks', plain)).toMatchObject(refused);
  const path = `/v21/webhooks/${id}`;
  expect(await api.shop('PUT', path, { ...plain, url: `${plain.url}s` })).toMatchObject(refused);
  const described = { ...plain, description: 'from before' };
  expect(await api.shop('PUT', path, described)).toMatchObject({ status: 200, data: described });
  const moved = { ...plain, url: 'https://shop.example/hook' };
  expect(await api.shop('PUT', path, moved)).toMatchObject({ status: 200, data: moved });
  expect(await api.shop('PUT', path, plain)).toMatchObject(refused);
});
