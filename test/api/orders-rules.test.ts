/** An invalid order is refused over HTTP, all at once. The rules: test/unit/domain/{order-rules,fields}.test.ts. */
import { describe, expect, test } from 'vitest';
import { firedEvents } from '../support/events.ts';
import { apiOfFile } from '../support/lifetimes.ts';
import { fullOrder, minimalOrder, stockedProducts } from '../support/orders.ts';

const api = await apiOfFile();
await stockedProducts(api.eshop);

const invoice = { type: 'invoice', fileName: 'i', url: 'https://shop.example/i' };
const line = (more: object) => ({ orderProducts: [{ sku: 'TEA', quantity: 1, ...more }] });

/** The fields added to the smallest valid order, and the expected message: each kind of field, and of rule. */
const refusals: [object, string][] = [
  [{ status: 'preOrder', releaseAt: '2100-02-30T00:00:00Z' }, 'releaseAt: must be an ISO 8601 date-time'],
  [{ status: 'received' }, 'status: must be one of preReceived, preOrder'],
  [
    { recipientCountry: 'cz' },
    'recipientCountry: must be a country code of two capital letters (ISO 3166-1 alpha-2)',
  ],
  [{ currency: 'EURO' }, 'currency: must be a currency code of three capital letters (ISO 4217)'],
  [
    { shipper: 'PPL', shipperService: 'DPD_PICKUP' },
    'shipperService: "DPD_PICKUP" is not a service of PPL, see GET /v2/shipper-service-codes',
  ],
  [{ paymentType: 3 }, 'paymentType: must be 0 (cash on delivery), 1 (card online) or 2 (bank transfer)'],
  [{ marketplace: 'nowhere' }, 'marketplace: must be one of allegro, amazon, kaufland'],
  [
    { orderFiles: [{ ...invoice, url: 'ftp://x' }] },
    'orderFiles.0.url: must be an absolute http or https URL',
  ],
  [
    { orderFiles: [{ ...invoice, type: 'photo' }] },
    'orderFiles.0.type: must be one of invoice, shippingLabel',
  ],
  [{ orderProducts: undefined }, 'orderProducts: is required'],
  [{ eshopOrderId: '..' }, 'eshopOrderId: must not be "." or ".."'],
  [line({ sku: 'GONE' }), 'orderProducts.0.sku: "GONE" is not a known product'],
  [line({ quantity: 0 }), 'orderProducts.0.quantity: must be greater than 0'],
  [
    line({ unitPrice: '1.00001' }),
    'orderProducts.0.unitPrice: has more than 4 decimals: send a shorter value',
  ],
  [line({ unitPrice: 1e21 }), 'orderProducts.0.unitPrice: has more than 15 digits: send a shorter value'],
  [line({ vatRate: 101 }), 'orderProducts.0.vatRate: must be at most 100'],
  [line({ colour: 'red' }), 'orderProducts.0.colour: unknown field'],
  [{ paid: 'yes' }, 'paid: must be true or false'],
  [{ priority: 2 }, 'priority: must be 0 (normal) or 1 (high)'],
  [{ recipientEmail: 'nobody' }, 'recipientEmail: must be an e-mail address'],
  [{ trackingNumbers: [''] }, 'trackingNumbers.0: must not be empty'],
  [{ note: 'a\u0000b' }, 'note: must not'],
];

describe('creation refuses', () => {
  test.each(refusals)('%j', async (more, message) => {
    const answer = await api.shop('POST', '/v21/orders', minimalOrder('rule', more));
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({
      statusCode: 400,
      error: 'Bad Request',
      message: expect.stringContaining(message),
    });
    expect(await firedEvents(api.sql, api.eshop.eshopId, 'rule')).toEqual([]);
  });

  test('with all problems of schema and rules at once', async () => {
    const answer = await api.shop('POST', '/v21/orders', {
      eshopOrderId: 'many',
      colour: 'red',
      size: 'XL',
      orderType: 'transfer',
      sanction: true,
      recipientCountry: 'ZZ',
      pickupPoint: '7',
      orderProducts: [
        { sku: 'GONE', quantity: 1 },
        { sku: 'TEA', quantity: 1 },
      ],
    });
    expect(answer.body.message.split('; ')).toEqual([
      'recipientCountry: must be a country code of two capital letters (ISO 3166-1 alpha-2)',
      'colour: unknown field',
      'size: unknown field',
      'transferCompany: is required for transfer orders',
      'sanction: allowed only for b2b orders',
      'pickupPoint: allowed only with a service that delivers to pickup points',
      'orderProducts.0.sku: "GONE" is not a known product',
    ]);
  });
});

test("another e-shop's product is not known", async () => {
  const other = await api.newEshop();
  const answer = await other.shop.request('POST', '/v21/orders', minimalOrder('foreign'));
  expect(answer.body.message).toBe('orderProducts.0.sku: "TEA" is not a known product');
});

describe('updates', () => {
  test('obey the same rules, over the order as it would become', async () => {
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
});
