/** The main job with the client that hey-api generates; prints what it saw as JSON. */
import { client } from './waybill/client.gen.ts';
import {
  createOrder,
  createProduct,
  createWebhook,
  getOrder,
  getOrderV2,
  listDeliveries,
  login,
  patchOrder,
} from './waybill/index.ts';

const [baseUrl = '', apiKey = '', username = '', password = ''] = process.argv.slice(2);
const keyOnly = { 'x-api-key': apiKey };
client.setConfig({ baseUrl, headers: keyOnly });
const throwOnError = true;

const session = await login({ body: { username, password }, throwOnError });
client.setConfig({ headers: { ...keyOnly, authorization: `Bearer ${session.data.data.token}` } });

const webhook = await createWebhook({
  body: { url: 'https://shop.example/hook', webhookType: 'CREATE_ORDER', active: true, method: 'POST' },
  throwOnError,
});
const product = await createProduct({
  body: { sku: 'TEA', name: 'Tea', price: '349.90', currency: 'CZK' },
  throwOnError,
});
await createOrder({
  body: {
    eshopOrderId: '10/1 ž',
    orderType: 'b2b',
    orderProducts: [{ sku: 'TEA', quantity: 1.5, unitPrice: '349.90' }],
  },
  throwOnError,
});
const path = { id: '10/1 ž' };
const order = await patchOrder({ path, body: { note: 'Ring twice.' }, throwOnError });
const inV2 = await getOrderV2({ path, throwOnError });
const deliveries = await listDeliveries({ query: { webhookId: webhook.data.data.id }, throwOnError });
const refused = await getOrder({ path: { id: 'none' } });

console.log(
  JSON.stringify({
    secret: webhook.data.data.secret.slice(0, 6),
    price: product.data.data.price,
    orderType: order.data.data.orderType,
    note: order.data.data.note,
    asText: inV2.data.data.orderProducts[0]?.quantity,
    deliveries: deliveries.data.data.length,
    refused: refused.error?.message,
  }),
);
