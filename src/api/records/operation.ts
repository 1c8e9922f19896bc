/**
 * Operations on a record besides changing its fields: by the e-shop without a body, by the warehouse with one. The
 * import offers the warehouse's, one per line (`import/operations.ts`).
 */
import type * as v from 'valibot';
import type { Change } from '../../db/records/write.ts';
import { capital } from '../../domain/text.ts';
import { validate } from '../../domain/validation.ts';
import type { Action } from '../describe.ts';

/** "PackingLists" for "packing-lists". */
export function inCapitals(name: string): string {
  return name.split('-').map(capital).join('');
}

/** `POST /<resource>/{id}/<name>`, without a body. */
export interface ChangeOf<Rec> extends Action {
  readonly change: Change<Rec>;
}

/** `PUT /warehouse/<resource>/{id}/<name>`, for the role `warehouse`. */
export interface Operation<Rec> extends Action {
  readonly body: v.GenericSchema<unknown, object>;
  readonly withPackingLists: boolean;
  /** @throws Problem 400 for a body that is wrong in itself */
  prepare(body: unknown): {
    /** The body as validated, its fields in the order of the schema. */
    readonly input: object;
    readonly change: Change<Rec>;
    /** True if it may run into a shortage of a product, or cause one. */
    readonly movesStock: boolean;
  };
}

export function operation<Rec, Body extends v.GenericSchema<unknown, object>>(
  of: Action & {
    readonly body: Body;
    readonly withPackingLists?: boolean;
    movesStock?(input: v.InferOutput<Body>): boolean;
    change(record: Rec, input: v.InferOutput<Body>, now: Date): Rec;
  },
): Operation<Rec> {
  return {
    ...of,
    withPackingLists: of.withPackingLists ?? false,
    prepare(body) {
      const input = validate(of.body, body);
      return {
        input,
        movesStock: of.movesStock?.(input) ?? false,
        change: (record, now) => of.change(record, input, now),
      };
    },
  };
}
