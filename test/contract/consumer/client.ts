/**
 * An e-shop's script as its developer writes it: all types come from `/openapi.json`. It prints what it saw as JSON.
 *
 *     node --import tsx client.ts <base URL> <API key> <user name> <password>
 */
import createClient from 'openapi-fetch';
import type { components, paths, webhooks } from './api.generated.ts';

const [baseUrl = '', apiKey = '', username = '', password = ''] = process.argv.slice(2);
const api = createClient<paths>({ baseUrl, headers: { 'x-api-key': apiKey } });

/** The data of a response. */
function ok<T>({ data, error }: { data?: { data: T }; error?: components['schemas']['Error'] }): T {
  if (data === undefined) throw new Error(error?.message ?? 'no answer');
  return data.data;
}

const { token } = ok(await api.POST('/v21/users/login', { body: { username, password } }));
api.use({
  onRequest({ request }) {
    request.headers.set('authorization', `Bearer ${token}`);
  },
});

const webhook = ok(
  await api.POST('/v21/webhooks', {
    body: { url: 'https://shop.example/hook', webhookType: 'UPDATE_ORDER', active: true, method: 'POST' },
  }),
);
const secret: string = webhook.secret;

ok(await api.POST('/v21/products', { body: { sku: 'TEA', name: 'Tea', price: '349.90', currency: 'CZK' } }));
const order = ok(
  await api.POST('/v21/orders', {
    body: { eshopOrderId: '10/1 ž', orderProducts: [{ sku: 'TEA', quantity: 1.5 }] },
  }),
);
const quantity: number | undefined = order.orderProducts[0]?.quantity;
const path = { id: order.eshopOrderId };
const inV2 = ok(await api.GET('/v2/orders/{id}', { params: { path } }));
const asText: string | undefined = inV2.orderProducts[0]?.quantity;

ok(
  await api.POST('/v21/receivings', {
    body: { eshopReceivingId: 'in', supplier: 'Tea Ltd', products: [{ sku: 'TEA', quantity: '4' }] },
  }),
);
ok(
  await api.POST('/v21/returns', {
    body: {
      eshopReturnId: 'back',
      returnedOrderProducts: [{ sku: 'TEA', quantity: 1, returnReason: 'unwanted' }],
    },
  }),
);
const products = await api.GET('/v21/products', { params: { query: { page: 1, items: 30 } } });
const total: number | undefined = products.data?.pagination.totalCount;
const refused = await api.GET('/v21/orders/{id}', { params: { path: { id: 'none' } } });

/** The body of a POST delivery of this type, in either version. */
type Payload<Type extends keyof webhooks> =
  webhooks[Type]['post']['requestBody']['content']['application/json'];

const orderLine = ({ eshopOrderId, status }: Payload<'CREATE_ORDER'>) => `order ${eshopOrderId} is ${status}`;
const productLine = ({ sku, stock }: Payload<'CREATE_PRODUCT'>) => `product ${sku}: ${stock.available}`;
const receivingLine = ({ eshopReceivingId, unitsAmount }: Payload<'CREATE_RECEIVING'>) =>
  `receiving ${eshopReceivingId} of ${unitsAmount}`;
const returnLine = ({ eshopReturnId, rma }: Payload<'CREATE_RETURN'>) =>
  `return ${eshopReturnId} ${rma ?? ''}`;
const movementLine = ({ sku, count }: Payload<'CREATE_STOCK_MOVEMENT_ORDER'>) => `${count} of ${sku}`;

/** One handler per event type: a missing type, an extra one or a wrong payload does not compile. */
const handlers: { [Type in keyof webhooks]: (payload: Payload<Type>) => string } = {
  CREATE_ORDER: orderLine,
  UPDATE_ORDER: orderLine,
  UPDATE_ORDER_STATUS: orderLine,
  CREATE_PRODUCT: productLine,
  UPDATE_PRODUCT: productLine,
  CREATE_RECEIVING: receivingLine,
  UPDATE_RECEIVING: receivingLine,
  UPDATE_RECEIVING_STATUS: receivingLine,
  CREATE_RETURN: returnLine,
  UPDATE_RETURN: returnLine,
  UPDATE_RETURN_STATUS: returnLine,
  CREATE_STOCK_MOVEMENT_STOCK_CORRECTION: movementLine,
  CREATE_STOCK_MOVEMENT_COMPLETITION: movementLine,
  CREATE_STOCK_MOVEMENT_ORDER: movementLine,
  CREATE_STOCK_MOVEMENT_RETURN: movementLine,
  CREATE_STOCK_MOVEMENT_RECEIVING: movementLine,
  CREATE_STOCK_MOVEMENT_QUALITY_HOLD: movementLine,
  CREATE_STOCK_MOVEMENT_QUALITY_RELEASE: movementLine,
};

/** Must not compile: the types would be worthless if it did. */
export async function wrong() {
  // @ts-expect-error no such kind of event
  const type: keyof webhooks = 'DELETE_ORDER';
  // @ts-expect-error v2 writes counts as text
  const count: number | undefined = inV2.orderProducts[0]?.quantity;
  // @ts-expect-error an order needs products
  await api.POST('/v21/orders', { body: { eshopOrderId: '1' } });
  // @ts-expect-error a path that is not there
  await api.GET('/v21/invoices');
  return [type, count];
}

console.log(
  JSON.stringify({
    secret,
    quantity,
    asText,
    total,
    refused: refused.error?.message,
    handled: handlers.CREATE_ORDER(order),
    handledV2: handlers.CREATE_ORDER(inV2),
  }),
);
