/** The carriers and their services: `GET /v2/shipper-service-codes` (docs/interface.md, O10). */
import type { Hono } from 'hono';
import * as v from 'valibot';
import { shipperSchema } from '../domain/shipper-services.ts';
import type { ApiDeps, ApiEnv } from './deps.ts';
import { describeOperation } from './describe.ts';
import { ok } from './envelope.ts';
import { query } from './validate.ts';

export function shipperServiceRoutes(app: Hono<ApiEnv>, deps: ApiDeps): void {
  app.get(
    '/shipper-service-codes',
    describeOperation('Orders', {
      id: 'listShipperServiceCodes',
      summary: 'List carriers and their services',
      description: 'The values of `shipper` and `shipperService` of an order.',
      data: v.array(shipperSchema),
      message: 'Shipper services found.',
    }),
    query({}),
    (c) => ok(c, 'Shipper services found.', deps.shipperCatalogue),
  );
}
