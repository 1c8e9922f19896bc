/** Records for the requests to name, so that not every path ends at 404. */
import type { ApiClient } from '../support/api/client.ts';

/** Path parameters, by the beginning of their path. */
export type KnownRecords = Readonly<Record<string, string>>;

/** Creates one record of each kind. */
export async function seedRecords(shop: ApiClient, warehouse: ApiClient): Promise<KnownRecords> {
  const made = async (client: ApiClient, path: string, body: object) => {
    const answer = await client.request('POST', path, body);
    if (answer.statusCode !== 200) throw new Error(`POST ${path}: ${answer.message}`);
    return answer.data;
  };
  await made(shop, '/products', { sku: 'TEA', name: 'Tea' });
  const movement = { type: 'stock_correction', sku: 'TEA', count: 1000 };
  const { id: movementId } = await made(warehouse, '/warehouse/stock-movements', movement);
  const hook = { url: 'https://shop.example/', webhookType: 'CREATE_ORDER', active: true, method: 'POST' };
  const { id: webhookId } = await made(shop, '/webhooks', hook);
  const lines = [{ sku: 'TEA', quantity: 1 }];
  await made(shop, '/orders', { eshopOrderId: 'known', status: 'preOrder', orderProducts: lines });
  await made(shop, '/receivings', { eshopReceivingId: 'known', supplier: 'x', products: lines });
  await made(shop, '/returns', { eshopReturnId: 'known', returnedOrderProducts: lines });
  const [delivery] = (await shop.request('GET', `/webhooks/${webhookId}/deliveries`)).data;
  return {
    '/products/': 'TEA',
    '/stock-movements/': String(movementId),
    '/webhooks/': String(webhookId),
    '/deliveries/': delivery.id,
    '/orders/': 'known',
    '/receivings/': 'known',
    '/returns/': 'known',
  };
}
