/**
 * The operations of an import's lines: each operation of the warehouse by name, with the body and function of its
 * endpoint.
 */
import type * as v from 'valibot';
import type { EntityMapping } from '../../db/records/entity-mapping.ts';
import { orders } from '../../db/records/orders.ts';
import { stockOf } from '../../db/records/staged-stock.ts';
import { stageMovement } from '../../db/records/stock-movements.ts';
import type { UnitOfWork } from '../../db/records/unit-of-work.ts';
import { stageChange } from '../../db/records/write.ts';
import { newMovement, stockMovementInputSchema } from '../../domain/stock/movement.ts';
import { inCapitals } from '../records/operation.ts';
import { orderOperations } from '../records/orders.ts';
import { receivingResource } from '../records/receivings.ts';
import type { Resource } from '../records/resource.ts';
import { returnResource } from '../records/returns.ts';

export interface Applied {
  /** As in the response of its own endpoint. */
  readonly message: string;
  readonly id?: string | number;
  /** True when the line was applied before and nothing was done. */
  readonly repeated?: boolean;
}

/** Reads for many lines of a kind at once, so that each line need not read on its own. */
interface Reads {
  /** Kinds are locked in the order of their names. */
  readonly name: string;
  /** Locks and reads records. */
  records(work: UnitOfWork, ids: readonly string[]): Promise<void>;
  /** @returns the SKUs whose stock is needed for changes to these records */
  skus(work: UnitOfWork, ids: readonly string[]): Promise<readonly string[]>;
}

export interface Prepared {
  /** The body as validated, its fields in the order of the schema: two spellings of one body are the same. */
  readonly input: object;
  readonly reads: Reads;
  /** The record, or the product, that it changes. */
  readonly id: string;
  /** True if it may run into a shortage of a product, or cause one. */
  readonly movesStock: boolean;
  /**
   * Stages the change.
   * @returns its result, to be called once the unit of work is written
   */
  apply(work: UnitOfWork): Promise<() => Applied>;
}

export interface ImportOperation {
  readonly name: string;
  /** For the documentation: the endpoint that does the same. */
  readonly endpoint: string;
  /** True if a line names the record by `id`. */
  readonly named: boolean;
  readonly body: v.GenericSchema;
  /** @throws Problem 400 for a body that is wrong in itself */
  prepare(id: string, body: unknown): Prepared;
}

/** Movements read only the stock of their products. */
const stockReads: Reads = { name: 'products', records: async () => {}, skus: async (_work, skus) => skus };

const stockMovement: ImportOperation = {
  name: 'stockMovement',
  endpoint: 'POST /v21/warehouse/stock-movements',
  named: false,
  body: stockMovementInputSchema,
  prepare(_id, body) {
    const movement = newMovement(body);
    return {
      input: movement,
      reads: stockReads,
      id: movement.sku,
      movesStock: true,
      async apply(work) {
        const record = await stageMovement(work, movement);
        return () => ({ message: 'Stock movement recorded.', id: record.id });
      },
    };
  },
};

const readsOf = <Rec extends object>(mapping: EntityMapping<Rec>): Reads => ({
  name: mapping.table,
  records: (work, ids) => mapping.records(work).lock(ids),
  async skus(work, ids) {
    const records = ids.map((id) => mapping.records(work).get(id)).filter((record) => record !== null);
    return (await mapping.sideEffects?.prepare(work, records)) ?? [];
  },
});

/** The warehouse's operations on a kind of record: "packing-lists" of an order is `orderPackingLists`. */
function operationsOn<Rec extends object>({
  mapping,
  operations,
}: Pick<Resource<Rec>, 'mapping' | 'operations'>): ImportOperation[] {
  const { kind, path } = mapping.entry;
  const reads = readsOf(mapping);
  return operations.map(({ name, message, body, prepare }) => ({
    name: `${kind}${inCapitals(name)}`,
    endpoint: `PUT /v21/warehouse${path}/{id}/${name}`,
    named: true,
    body,
    prepare(id, sent) {
      const { input, change, movesStock } = prepare(sent);
      return {
        input,
        reads,
        id,
        movesStock,
        async apply(work) {
          await stageChange(work, mapping, id, change);
          return () => ({ message, id });
        },
      };
    },
  }));
}

/**
 * Reads in advance all that the lines need. Every transaction locks in this order: kinds by name, each by identifier,
 * then products by SKU.
 */
export async function readFor(work: UnitOfWork, lines: readonly Prepared[]): Promise<void> {
  const kinds = [...new Set(lines.map(({ reads }) => reads))].sort((a, b) => (a.name < b.name ? -1 : 1));
  const idsOf = (reads: Reads, selection: readonly Prepared[]) =>
    selection.filter((line) => line.reads === reads).map(({ id }) => id);
  for (const reads of kinds) await reads.records(work, idsOf(reads, lines));
  const moving = lines.filter(({ movesStock }) => movesStock);
  const skus = await Promise.all(kinds.map((reads) => reads.skus(work, idsOf(reads, moving))));
  await stockOf(work).lock(skus.flat());
}

export const importOperations: readonly [ImportOperation, ...ImportOperation[]] = [
  stockMovement,
  ...operationsOn({ mapping: orders, operations: orderOperations }),
  ...operationsOn(receivingResource),
  ...operationsOn(returnResource),
];
