/** Stock movements: `/stock-movements`, key `id`; the warehouse records them. */
import type { Hono } from 'hono';
import * as v from 'valibot';
import { createMovement, stockMovements } from '../../db/records/stock-movements.ts';
import { transaction } from '../../db/transaction.ts';
import { stockMovementTypes } from '../../domain/event-types.ts';
import { identifier, oneOf, recordNumberText } from '../../domain/fields.ts';
import { renderValue } from '../../domain/render.ts';
import {
  newMovement,
  stockMovementInputSchema,
  stockMovementRecordSchema,
  stockMovementResponseOnly,
} from '../../domain/stock/movement.ts';
import { timestamp } from '../../domain/timestamp.ts';
import type { ApiDeps, ApiEnv } from '../deps.ts';
import { describeOperation } from '../describe.ts';
import { ok } from '../envelope.ts';
import { idempotent } from '../idempotency.ts';
import { jsonBody } from '../json-body.ts';
import { type ListedResource, recordReads } from './reads.ts';

export const stockMovementResource: ListedResource = {
  mapping: stockMovements,
  listed: '. `since` is the earliest `createdAt`, inclusive.',
  filter: {
    sku: v.optional(identifier()),
    type: v.optional(oneOf(stockMovementTypes)),
    since: v.optional(timestamp()),
  },
  id: recordNumberText(),
  recordSchema: stockMovementRecordSchema,
};

export function stockMovementRoutes(app: Hono<ApiEnv>, deps: ApiDeps): void {
  recordReads(app, deps, 'v21', stockMovementResource);

  app.post(
    '/warehouse/stock-movements',
    describeOperation('Warehouse', {
      id: 'createStockMovement',
      summary: 'Record a stock movement',
      description: `Changes the product's \`stock\` immediately, and fires CREATE_STOCK_MOVEMENT_<TYPE>, but not UPDATE_PRODUCT.

- \`quality_hold\` moves \`count\` units from \`available\` to \`onHold\`, \`quality_release\` moves them back.
- Every other type adds \`count\` to \`available\`; a negative \`count\` takes units away.
- \`available\` and \`onHold\` never go below zero, and a product has fewer than 1,000,000,000 units; otherwise 409.

Some movements are recorded automatically, one per line: when an order becomes \`onTheWay\` (from its reserved units), a receiving is stocked, or a return is completed.`,
      data: stockMovementRecordSchema('v21'),
      message: 'Stock movement recorded.',
      errors: { 409: 'the product does not have enough units.' },
    }),
    jsonBody(stockMovementInputSchema, { responseOnly: stockMovementResponseOnly }),
    idempotent(deps, { schema: stockMovementInputSchema, responseOnly: stockMovementResponseOnly }),
    async (c) => {
      const movement = newMovement(c.req.valid('json'));
      const { eshopId, role } = c.get('session');
      const sql = c.get('sql') ?? deps.sql;
      const record = await transaction(sql, (tx) => createMovement(tx, eshopId, role, movement));
      const shown = renderValue(record, { version: 'v21', withPackingLists: false });
      return ok(c, 'Stock movement recorded.', shown);
    },
  );
}
