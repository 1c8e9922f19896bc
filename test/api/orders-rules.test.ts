/** An invalid order is refused over HTTP, all at once. The rules: test/unit/domain/{order-rules,fields}.test.ts. */
import { describe, expect, test } from 'vitest';
import { fullOrder, minimalOrder, stockedProducts } from '../support/api/orders.ts';
import { firedEvents } from '../support/database/events.ts';
import { apiOfFile } from '../support/lifetimes.ts';

const api = await apiOfFile();
await stockedProducts(api.eshop);

describe('creation', () => {
  test('all violations of schema and rules are reported at once', async () => {
    const answer = await api.shop('POST', '/v21/orders', {
      eshopOrderId: 'many',
      color: 'red',
      size: 'XL',
      orderType: 'transfer',
      sanction: true,
      recipientCountry: 'ZZ',
      recipientEmail: 'nobody',
      paid: 'yes',
      paymentType: 3,
      priority: 2,
      trackingNumbers: [''],
      orderFiles: [{ type: 'photo', fileName: 'i', url: 'ftp://x' }],
      pickupPoint: '7',
      orderProducts: [{ sku: 'TEA', quantity: 0, unitPrice: '1.00001', vatRate: 101 }],
    });
    expect([answer.status, answer.body.error]).toEqual([400, 'Bad Request']);
    expect(await firedEvents(api.sql, api.eshop.eshopId, 'many')).toEqual([]);
    expect(answer.body.message.split('; ')).toEqual([
      'recipientEmail: must be an e-mail address',
      'recipientCountry: must be a country code of two capital letters (ISO 3166-1 alpha-2)',
      'paid: must be true or false',
      'paymentType: must be 0 (cash on delivery), 1 (card online) or 2 (bank transfer)',
      'trackingNumbers.0: must not be empty',
      'priority: must be 0 (normal) or 1 (high)',
      'orderFiles.0.type: must be one of invoice, shippingLabel, shippingAddonLabel, other',
      'orderFiles.0.url: must be an absolute http or https URL',
      'orderProducts.0.quantity: must be greater than 0',
      'orderProducts.0.unitPrice: has more than 4 decimals: send a shorter value',
      'orderProducts.0.vatRate: must be at most 100',
      'color: unknown field',
      'size: unknown field',
      'transferCompany: is required for transfer orders',
      'sanction: allowed only for b2b orders',
      'pickupPoint: allowed only with a service that delivers to pickup points',
    ]);
  });
});

test('products of another e-shop are unknown', async () => {
  const other = await api.newEshop();
  const answer = await other.shop.request('POST', '/v21/orders', minimalOrder('foreign'));
  expect(answer.body.message).toBe('orderProducts.0.sku: "TEA" is not a known product');
});

test('updates are checked against the same rules, on the resulting order', async () => {
  await api.shop('POST', '/v21/orders', fullOrder('upd'));
  const patch = async (body: object) => (await api.shop('PATCH', '/v21/orders/upd', body)).body.message;
  expect(await patch({ orderType: 'b2c' })).toBe(
    'requiredExpeditionDate: allowed only for b2b orders; sanction: allowed only for b2b orders',
  );
  expect(await patch({ pickupPoint: null })).toBe(
    'pickupPoint: is required by the service PACKETA_PICKUP_CZ',
  );
  const put = await api.shop('PUT', '/v21/orders/upd', { orderType: 'transfer' });
  expect(put.body.message).toBe(
    'orderProducts: is required; transferCompany: is required for transfer orders',
  );
});
