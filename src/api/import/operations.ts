/**
 * What a line of an import can do: each operation of the warehouse under a name, its body the one of its own
 * endpoint, its effect the same function.
 * @module
 */
import type * as v from 'valibot';
import { orders } from '../../db/records/orders.ts';
import { createMovement } from '../../db/records/stock-movements.ts';
import { changeRecord } from '../../db/records/write.ts';
import type { Transaction } from '../../db/transaction.ts';
import { newMovement, stockMovementInputSchema } from '../../domain/stock/movement.ts';
import { capital } from '../../domain/words.ts';
import { orderOperations } from '../records/orders.ts';
import { receivingResource } from '../records/receivings.ts';
import type { Resource } from '../records/resource.ts';
import { returnResource } from '../records/returns.ts';
import { exclusive, type LockedKey, shared } from './keyed-lock.ts';

/** What applying a line gave. */
export interface Applied {
  /** As its own endpoint says it. */
  readonly message: string;
  /** The identifier of the record. */
  readonly id?: string | number;
  /** True when the line was applied before and nothing was done. */
  readonly repeated?: boolean;
}

/** A line, its body checked: what it locks, and how it is applied. */
export interface Prepared {
  readonly locks: readonly LockedKey[];
  apply(tx: Transaction, eshopId: number): Promise<Applied>;
}

/** An operation. */
export interface ImportOperation {
  /** The name a line gives it. */
  readonly name: string;
  /** For the documentation: the endpoint that does the same. */
  readonly endpoint: string;
  /** True when a line names the record by `id`. */
  readonly named: boolean;
  readonly body: v.GenericSchema;
  /** @throws Problem 400 for a body that is wrong in itself */
  prepare(id: string, body: unknown): Prepared;
}

/** All products: whoever has it alone may find any of them short, or make it so. */
const stock = 'stock';

const stockMovement: ImportOperation = {
  name: 'stockMovement',
  endpoint: 'POST /v21/warehouse/stock-movements',
  named: false,
  body: stockMovementInputSchema,
  prepare(_id, body) {
    const movement = newMovement(body);
    return {
      locks: [shared(stock), exclusive(`product ${movement.sku}`)],
      async apply(tx, eshopId) {
        const { id } = await createMovement(tx, eshopId, movement);
        return { message: 'Stock movement recorded.', id };
      },
    };
  },
};

/** What the warehouse does to a kind of record: "packing-lists" of an order is `orderPackingLists`. */
function operationsOn<Rec extends object>({
  family,
  operations,
}: Pick<Resource<Rec>, 'family' | 'operations'>): ImportOperation[] {
  const { kind, path } = family.entry;
  return operations.map(({ name, message, body, prepare }) => ({
    name: `${kind}${name.split('-').map(capital).join('')}`,
    endpoint: `PUT /v21/warehouse${path}/{id}/${name}`,
    named: true,
    body,
    prepare(id, sent) {
      const { change, movesStock } = prepare(sent);
      return {
        locks: [exclusive(`${kind} ${id}`), ...(movesStock ? [exclusive(stock)] : [])],
        async apply(tx, eshopId) {
          await changeRecord(tx, family, eshopId, id, change);
          return { message, id };
        },
      };
    },
  }));
}

/** Every operation. */
export const importOperations: readonly [ImportOperation, ...ImportOperation[]] = [
  stockMovement,
  ...operationsOn({ family: orders, operations: orderOperations }),
  ...operationsOn(receivingResource),
  ...operationsOn(returnResource),
];
