/** The kinds of event. Made by `npm run receiver:generate` from the schemas of the server: do not edit. */

/** Of each kind: where the API has its records (below the version), and which of their fields identifies them. */
export const kinds = {
  CREATE_ORDER: { path: '/orders', idField: 'eshopOrderId' },
  UPDATE_ORDER: { path: '/orders', idField: 'eshopOrderId' },
  UPDATE_ORDER_STATUS: { path: '/orders', idField: 'eshopOrderId' },
  CREATE_PRODUCT: { path: '/products', idField: 'sku' },
  UPDATE_PRODUCT: { path: '/products', idField: 'sku' },
  CREATE_RECEIVING: { path: '/receivings', idField: 'eshopReceivingId' },
  UPDATE_RECEIVING: { path: '/receivings', idField: 'eshopReceivingId' },
  UPDATE_RECEIVING_STATUS: { path: '/receivings', idField: 'eshopReceivingId' },
  CREATE_RETURN: { path: '/returns', idField: 'eshopReturnId' },
  UPDATE_RETURN: { path: '/returns', idField: 'eshopReturnId' },
  UPDATE_RETURN_STATUS: { path: '/returns', idField: 'eshopReturnId' },
  CREATE_STOCK_MOVEMENT_STOCK_CORRECTION: { path: '/stock-movements', idField: 'id' },
  CREATE_STOCK_MOVEMENT_COMPLETITION: { path: '/stock-movements', idField: 'id' },
  CREATE_STOCK_MOVEMENT_ORDER: { path: '/stock-movements', idField: 'id' },
  CREATE_STOCK_MOVEMENT_RETURN: { path: '/stock-movements', idField: 'id' },
  CREATE_STOCK_MOVEMENT_RECEIVING: { path: '/stock-movements', idField: 'id' },
  CREATE_STOCK_MOVEMENT_QUALITY_HOLD: { path: '/stock-movements', idField: 'id' },
  CREATE_STOCK_MOVEMENT_QUALITY_RELEASE: { path: '/stock-movements', idField: 'id' },
} as const;

/** A `webhookType`. */
export type Kind = keyof typeof kinds;

/** Fields, wherever they stand, that v2 writes as decimal strings and v21 as numbers. */
export const decimalFields: readonly string[] = [
  'quantity',
  'received',
  'unitsAmount',
  'count',
  'balance',
  'unitPrice',
  'price',
  'cashOnDelivery',
  'vatRate',
];

/** Fields whose object holds nothing but such decimals. */
export const decimalObjects: readonly string[] = ['stock'];
