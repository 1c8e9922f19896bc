import type { EntityKind } from '../../domain/event-types.ts';
import { orders } from './orders.ts';
import { products } from './products.ts';
import { receivings } from './receivings.ts';
import { returns } from './returns.ts';
import { stockMovements } from './stock-movements.ts';
import type { TableMapping } from './table-mapping.ts';

/**
 * Every kind of record. Products come first, since others refer to them: they are exported first and deleted last.
 */
export const mappings: Readonly<Record<EntityKind, TableMapping<object>>> = {
  product: products,
  order: orders,
  receiving: receivings,
  return: returns,
  stockMovement: stockMovements,
};
