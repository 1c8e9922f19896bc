/** Receivings and returns over HTTP: the steps that their tests share. */
import { expect } from 'vitest';
import { firedTypes } from '../database/events.ts';
import type { TestApi } from './api.ts';
import { newProduct } from './orders.ts';

const kinds = {
  receivings: { idField: 'eshopReceivingId', linesField: 'products', more: { supplier: 'Tea Ltd' } },
  returns: { idField: 'eshopReturnId', linesField: 'returnedOrderProducts', more: {} },
} as const;

let made = 0;

/** The calls on one of the two resources, as the first e-shop of the API. */
export function announcementCalls(api: TestApi, kind: keyof typeof kinds) {
  const { idField, linesField, more } = kinds[kind];
  const warehousePath = (id: string) => `/v21/warehouse/${kind}/${encodeURIComponent(id)}`;
  const calls = {
    /** A new product. */
    product: (available = '0') => newProduct(api.eshop, available),
    /** The smallest body with these lines. */
    minimal(lines: object[]): Record<string, unknown> {
      made += 1;
      return { [idField]: `A-${made}`, ...more, [linesField]: lines };
    },
    /** Announces one; answers its identifier. */
    async announced(...lines: object[]): Promise<string> {
      const created = await api.shop('POST', `/v21/${kind}`, calls.minimal(lines));
      expect(created.body.statusCode, created.text).toBe(200);
      return created.data[idField];
    },
    /** A request of the e-shop for one record. */
    shop: (method: string, id: string, body?: object) =>
      api.shop(method, `/v21/${kind}/${encodeURIComponent(id)}`, body),
    move: (id: string, status: string, more: object = {}) =>
      api.warehouse('PUT', `${warehousePath(id)}/status`, { status, ...more }),
    count: (id: string, ...lines: object[]) =>
      api.warehouse('PUT', `${warehousePath(id)}/lines`, { [linesField]: lines }),
    /** Moves it through these statuses, each answered 200. */
    async way(id: string, ...statuses: readonly string[]): Promise<void> {
      for (const status of statuses) expect((await calls.move(id, status)).status, status).toBe(200);
    },
    stockOf: async (sku: string) => (await api.shop('GET', `/v2/products/${sku}`)).data.stock,
    /** The types of the events fired for a record. */
    fired: (id: string) => firedTypes(api.sql, api.eshop.eshopId, id),
  };
  return calls;
}
