/**
 * Every rule of the order input, each with its own message; all problems are reported at once.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestApi, type TestApi } from '../support/api.ts';
import { firedEvents } from '../support/events.ts';
import { fullOrder, minimalOrder, stockedProducts } from '../support/orders.ts';

let api: TestApi;

beforeAll(async () => {
  api = await createTestApi();
  await stockedProducts(api.eshop);
});
afterAll(() => api.drop());

const invoice = { type: 'invoice', fileName: 'i', url: 'https://shop.example/i' };
const label = { type: 'shippingAddonLabel', fileName: 'l', url: 'https://shop.example/l' };
const line = (more: object) => ({ orderProducts: [{ sku: 'TEA', quantity: 1, ...more }] });
const ppl = { shipper: 'PPL', shipperService: 'PPL_PRIVATE' };

/** The fields added to the smallest valid order, and the expected message. */
const refusals: [object, string][] = [
  [{ orderType: 'transfer' }, 'transferCompany: is required for transfer orders'],
  [{ orderType: 'transfer', transferCompany: '' }, 'transferCompany: is required for transfer orders'],
  [{ sanction: true }, 'sanction: allowed only for b2b orders'],
  [{ requiredExpeditionDate: '2030-01-01T00:00:00Z' }, 'requiredExpeditionDate: allowed only for b2b orders'],
  [{ releaseAt: '2100-01-01T00:00:00Z' }, 'releaseAt: allowed only for a preOrder'],
  [{ status: 'preOrder', releaseAt: '2020-01-01T00:00:00Z' }, 'releaseAt: must be in the future'],
  [{ status: 'received' }, 'status: must be one of preReceived, preOrder'],
  [
    { recipientCountry: 'cz' },
    'recipientCountry: must be a country code of two capital letters (ISO 3166-1 alpha-2)',
  ],
  [
    { billingCountry: 'XX' },
    'billingCountry: must be a country code of two capital letters (ISO 3166-1 alpha-2)',
  ],
  [{ currency: 'EURO' }, 'currency: must be a currency code of three capital letters (ISO 4217)'],
  [{ shipper: 'PPL' }, 'shipperService: is required with shipper'],
  [{ shipperService: 'PPL_PRIVATE' }, 'shipper: is required with shipperService'],
  [
    { shipper: 'NONE', shipperService: 'X' },
    'shipper: "NONE" is not a shipper listed by GET /v2/shipper-service-codes',
  ],
  [
    { shipper: 'PPL', shipperService: 'DPD_PICKUP' },
    'shipperService: "DPD_PICKUP" is not a service of PPL, see GET /v2/shipper-service-codes',
  ],
  [{ shipper: 'DPD', shipperService: 'DPD_PICKUP' }, 'pickupPoint: is required by the service DPD_PICKUP'],
  [{ ...ppl, pickupPoint: '7' }, 'pickupPoint: is not applicable to the service PPL_PRIVATE'],
  [{ pickupPoint: '7' }, 'pickupPoint: allowed only with a service that delivers to pickup points'],
  [
    { paymentType: 0, cashOnDelivery: 1 },
    'paymentType: 0 (cash on delivery) requires a shipperService that offers it',
  ],
  [
    { shipper: 'UPS', shipperService: 'UPS_STANDARD', paymentType: 0, cashOnDelivery: 1 },
    'paymentType: 0 (cash on delivery) is not offered by the service UPS_STANDARD',
  ],
  [
    { ...ppl, paymentType: 0 },
    'cashOnDelivery: must be greater than 0 for cash on delivery, unless the order is paid',
  ],
  [
    { ...ppl, paymentType: 0, cashOnDelivery: '0.00' },
    'cashOnDelivery: must be greater than 0 for cash on delivery, unless the order is paid',
  ],
  [{ paymentType: 3 }, 'paymentType: must be 0 (cash on delivery), 1 (card online) or 2 (bank transfer)'],
  [{ marketplace: 'nowhere' }, 'marketplace: must be one of allegro, amazon, kaufland'],
  [
    { disableShippingReorder: true, orderFiles: [label] },
    'marketplace: is required when disableShippingReorder is true',
  ],
  [
    { disableShippingReorder: true, marketplace: 'otto', orderFiles: [invoice] },
    'orderFiles: must contain a file of type shippingAddonLabel when disableShippingReorder is true',
  ],
  [
    { invoicePrint: true, orderFiles: [label] },
    'orderFiles: must contain a file of type invoice when invoicePrint is true',
  ],
  [
    { orderFiles: [{ ...invoice, url: 'ftp://x' }] },
    'orderFiles.0.url: must be an absolute http or https URL',
  ],
  [
    { orderFiles: [{ ...invoice, type: 'photo' }] },
    'orderFiles.0.type: must be one of invoice, shippingLabel',
  ],
  [{ orderProducts: [] }, 'orderProducts: must have at least one product'],
  [{ orderProducts: undefined }, 'orderProducts: is required'],
  [{ eshopOrderId: undefined }, 'eshopOrderId: is required'],
  [{ eshopOrderId: '' }, 'eshopOrderId: must not be empty'],
  [{ eshopOrderId: '..' }, 'eshopOrderId: must not be "." or ".."'],
  [{ eshopOrderId: 'x'.repeat(65) }, 'eshopOrderId: must have at most 64 characters'],
  [line({ sku: 'GONE' }), 'orderProducts.0.sku: "GONE" is not a known product'],
  [line({ quantity: 0 }), 'orderProducts.0.quantity: must be greater than 0'],
  [line({ quantity: '-1' }), 'orderProducts.0.quantity: must be greater than 0'],
  [
    line({ quantity: 'two' }),
    'orderProducts.0.quantity: must be a number or a decimal string such as "12.5"',
  ],
  [
    line({ quantity: '1e3' }),
    'orderProducts.0.quantity: must be a number or a decimal string such as "12.5"',
  ],
  [line({ quantity: true }), 'orderProducts.0.quantity: must be a number or a decimal string such as "12.5"'],
  [line({ quantity: undefined }), 'orderProducts.0.quantity: is required'],
  [
    line({ unitPrice: '1.00001' }),
    'orderProducts.0.unitPrice: has more than 4 decimals: send a shorter value',
  ],
  [line({ unitPrice: -1 }), 'orderProducts.0.unitPrice: must be at least 0'],
  [
    line({ unitPrice: '1234567890123456' }),
    'orderProducts.0.unitPrice: has more than 15 digits: send a shorter value',
  ],
  [line({ unitPrice: 1e21 }), 'orderProducts.0.unitPrice: has more than 15 digits: send a shorter value'],
  [line({ vatRate: 101 }), 'orderProducts.0.vatRate: must be at most 100'],
  [line({ colour: 'red' }), 'orderProducts.0.colour: unknown field'],
  [{ colour: 'red' }, 'colour: unknown field'],
  [{ paid: 'yes' }, 'paid: must be true or false'],
  [{ priority: 2 }, 'priority: must be 0 (normal) or 1 (high)'],
  [{ recipientEmail: 'nobody' }, 'recipientEmail: must be an e-mail address'],
  [{ trackingNumbers: [''] }, 'trackingNumbers.0: must not be empty'],
  [{ trackingNumbers: 'Z1' }, 'trackingNumbers: must be a list'],
  [{ status: 'preOrder', releaseAt: '2100-02-30T00:00:00Z' }, 'releaseAt: must be an ISO 8601 date-time'],
  [{ status: 'preOrder', releaseAt: '2100-01-01T00:00:00' }, 'releaseAt: must be an ISO 8601 date-time'],
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

  test.each<[string, object]>([
    ['a paid cash-on-delivery order without an amount', { ...ppl, paymentType: 0, paid: true }],
    ['a pre-order without a time', { status: 'preOrder' }],
    ['a pre-order with a time', { status: 'preOrder', releaseAt: '2100-01-01T00:00:00+01:00' }],
    ['a transfer with its company', { orderType: 'transfer', transferCompany: 'Moving Ltd' }],
    ['a bank transfer without a carrier', { paymentType: 2 }],
    [
      'a reorder disabled, with all it needs',
      { disableShippingReorder: true, marketplace: 'otto', orderFiles: [label] },
    ],
  ])('but not %s', async (name, more) => {
    const answer = await api.shop('POST', '/v21/orders', minimalOrder(name.slice(0, 64), more));
    expect(answer.status, answer.text).toBe(200);
  });

  test('with each of two unknown fields, and with the first 50 of 80', async () => {
    const message = async (names: readonly string[]) => {
      const more = Object.fromEntries(names.map((name) => [name, 1]));
      return (await api.shop('POST', '/v21/orders', minimalOrder('rule', more))).body.message;
    };
    expect(await message(['colour', 'size'])).toBe('colour: unknown field; size: unknown field');
    const names = Array.from({ length: 80 }, (_, index) => `x${index}`);
    const listed = names.slice(0, 50).map((name) => `${name}: unknown field`);
    expect(await message(names)).toBe([...listed, 'and 30 more'].join('; '));
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
    expect(await patch({ orderFiles: [] })).toBe(
      'orderFiles: must contain a file of type shippingAddonLabel when disableShippingReorder is true; orderFiles: must contain a file of type invoice when invoicePrint is true',
    );
    expect(await patch({ releaseAt: '2100-01-01T00:00:00Z' })).toBe('releaseAt: allowed only for a preOrder');
    const put = await api.shop('PUT', '/v21/orders/upd', { orderType: 'transfer' });
    expect(put.body.message).toBe(
      'orderProducts: is required; transferCompany: is required for transfer orders',
    );
  });

  test('are not refused for what was accepted before and is not touched', async () => {
    await api.shop('POST', '/v21/orders', minimalOrder('old', { ...ppl, marketplace: 'otto' }));
    await api.shop(
      'POST',
      '/v21/orders',
      minimalOrder('due', { status: 'preOrder', releaseAt: '2100-01-01T00:00:00Z' }),
    );
    await api.sql`update orders set shipper = 'WITHDRAWN', marketplace = 'closed' where eshop_order_id = 'old'`;
    await api.sql`update orders set release_at = '2020-01-01T00:00:00Z' where eshop_order_id = 'due'`;
    for (const id of ['old', 'due']) {
      const answer = await api.shop('PATCH', `/v21/orders/${id}`, { note: 'still fine' });
      expect(answer.data?.note).toBe('still fine');
    }
  });

  test.each(['[]', '"text"', 'null', '7', '{', ''])('a body of %s is 400', async (text) => {
    for (const [method, path] of [
      ['POST', '/v21/orders'],
      ['PUT', '/v21/orders/upd'],
      ['PATCH', '/v21/orders/upd'],
    ] as const) {
      const answer = await api.shop(method, path, text);
      expect(answer.status, `${method} ${answer.text}`).toBe(400);
    }
  });
});
