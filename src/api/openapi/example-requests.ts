/**
 * Example requests by operation, made from the samples of the catalogue so that they name the same records.
 */
import { type CatalogueEntry, catalogue } from '../../domain/catalogue.ts';
import { sampleOrder } from '../../domain/order/record.ts';
import { sampleReceiving } from '../../domain/receiving/schema.ts';
import { PACKING_LISTS, renderValue } from '../../domain/render.ts';
import { sampleReturn } from '../../domain/return/schema.ts';
import { ids, SECRET, webhook } from './example-records.ts';

/** A record as a client writes it: without response-only fields, nulls, and fields that the warehouse enters. */
function written({ responseOnly, sample }: CatalogueEntry, dropped: readonly string[] = []): object {
  const names = [...responseOnly, ...dropped];
  const fields = Object.entries(sample).filter(([name, value]) => value !== null && !names.includes(name));
  return Object.fromEntries(
    fields.map(([name, value]) => [name, Array.isArray(value) ? value.map(withoutEntered) : value]),
  );
}

const ENTERED = ['received', 'resolution', 'lineState', PACKING_LISTS];

function withoutEntered(line: unknown): unknown {
  if (typeof line !== 'object' || line === null) return line;
  return Object.fromEntries(
    Object.entries(line).filter(([name, value]) => value !== null && !ENTERED.includes(name)),
  );
}

/** For a PUT: the identifier is in the path. */
function rewritten(entry: CatalogueEntry, changes: object, dropped: readonly string[] = []): object {
  return { ...written(entry, [entry.idField, ...dropped]), ...changes };
}

/** The fields of lines that the warehouse enters, and those that say which lines. */
function entered(lines: readonly object[], names: readonly string[]): object[] {
  return lines.map((line) => Object.fromEntries(names.map((name) => [name, Reflect.get(line, name)])));
}

const onCreationOrLater = ['status', 'trackingNumbers'];

const { url, webhookType, additionalTypes, active, method, payloadVersion, description } = webhook;
const webhookBody = { url, webhookType, additionalTypes, active, method, payloadVersion, description };

const bodies: Readonly<Record<string, object>> = {
  'POST /v21/users/login': { username: 'shop', password: 'correct-horse-battery-staple' },
  'POST /v21/webhooks': webhookBody,
  'PUT /v21/webhooks/{id}': { ...webhookBody, url: 'https://shop.example/hooks/all-orders' },
  'PUT /v21/webhooks/{id}/regenerate-secret': { secret: SECRET },
  'PUT /v21/webhooks/{id}/pause': { until: '2026-11-21T06:00:00Z' },
  'POST /v21/webhooks/{id}/recover': {
    since: '2026-11-20T18:00:00Z',
    until: '2026-11-21T06:00:00Z',
    include: ['failed', 'expired', 'missed'],
    dryRun: true,
  },
  'PATCH /v21/eshop': { notifications: { warning: false } },
  'POST /v21/orders': written(catalogue.order, onCreationOrLater),
  'PUT /v21/orders/{id}': rewritten(catalogue.order, { note: 'Ring twice.' }, onCreationOrLater),
  'PATCH /v21/orders/{id}': { note: 'Leave it with the neighbors.', recipientPhone: '+420600000009' },
  'PUT /v21/warehouse/orders/{id}/status': { status: 'processing', note: 'Picking has begun.' },
  'PUT /v21/warehouse/orders/{id}/packing-lists': {
    orderProducts: entered(sampleOrder.orderProducts, ['sku', PACKING_LISTS]),
  },
  'POST /v21/products': written(catalogue.product),
  'PUT /v21/products/{id}': rewritten(catalogue.product, { price: '329.90' }),
  'PATCH /v21/products/{id}': { price: '329.90', note: 'Autumn offer' },
  'POST /v21/receivings': written(catalogue.receiving),
  'PUT /v21/receivings/{id}': rewritten(catalogue.receiving, { driverPhone: '+420600000003' }),
  'PATCH /v21/receivings/{id}': { estimatedDelivery: '2026-11-21T07:00:00.000Z' },
  'PUT /v21/warehouse/receivings/{id}/status': { status: 'arrived' },
  'PUT /v21/warehouse/receivings/{id}/lines': {
    products: entered(sampleReceiving.products, ['sku', 'lot', 'received', 'expirationDate']),
  },
  'POST /v21/returns': written(catalogue.return),
  'PUT /v21/returns/{id}': rewritten(catalogue.return, { eshopNote: 'The customer wants the black tea.' }),
  'PATCH /v21/returns/{id}': { trackingNumber: '40950000978' },
  'PUT /v21/warehouse/returns/{id}/status': { status: 'arrived', note: 'Unopened.' },
  'PUT /v21/warehouse/returns/{id}/lines': {
    returnedOrderProducts: entered(sampleReturn.returnedOrderProducts, [
      'sku',
      'lot',
      'received',
      'resolution',
    ]),
  },
  'POST /v21/warehouse/stock-movements': {
    type: 'stock_correction',
    sku: 'TEA-GREEN-100',
    count: '-2',
    lot: 'L2026-07',
    note: 'damaged in the aisle',
  },
  'POST /v21/warehouse/events/import': {
    operation: 'orderStatus',
    id: ids.orders,
    idempotencyKey: 'wms-1',
    body: { status: 'processing' },
  },
};

const queries: Readonly<Record<string, Readonly<Record<string, string | number | boolean>>>> = {
  '/webhooks/{id}/deliveries': { state: 'failed', since: '2026-11-20T00:00:00Z' },
  '/deliveries': { state: 'failed', since: '2026-11-20T00:00:00Z' },
  '/events': { entityId: ids.orders },
  '/orders': { status: 'received', items: 30 },
  '/orders/{id}': { withPackingLists: true },
  '/products': { active: true },
  '/receivings': { status: 'awaiting' },
  '/returns': { status: 'awaiting' },
  '/stock-movements': { sku: ids.products },
};

/** The example body of an operation; undefined if it has none. @param key such as `POST /v21/orders` */
export function exampleBody(key: string): unknown {
  const body = bodies[key];
  return body === undefined ? undefined : renderValue(body, { version: 'v21', withPackingLists: true });
}

export const operationsWithBody: readonly string[] = Object.keys(bodies);

/** The value of a parameter in the example of an operation; undefined if left out. */
export function exampleParameter(
  method: string,
  path: string,
  { name, in: where }: { readonly name: string; readonly in: string },
): string | number | boolean | undefined {
  if (where === 'path') {
    const [before = ''] = path.split(`/{${name}}`);
    return Object.entries(ids).find(([part]) => before.endsWith(`/${part}`))?.[1];
  }
  if (method.toUpperCase() !== 'GET') return undefined;
  return queries[path.replace(/^\/v21?/, '')]?.[name];
}
