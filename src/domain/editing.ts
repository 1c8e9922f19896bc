/**
 * How e-shops write records, the same for all kinds: fields are checked by schema and rules; a PUT takes all fields
 * from the body, a PATCH only those sent.
 */
import * as v from 'valibot';
import type { CatalogueEntry } from './catalogue.ts';
import { identifier } from './fields.ts';
import { itemsOf } from './list.ts';
import type { ShipperCatalogue } from './shipper-services.ts';
import { assertChangeable } from './status.ts';
import { fieldsOf, isObject, omitFields, type Rule, rulesOf, validate } from './validation.ts';

/** The facts that the rules know besides the body. */
export interface WriteContext {
  readonly now: Date;
  readonly shipperCatalogue: ShipperCatalogue;
  readonly marketplaces: readonly string[];
  /** The SKUs in the body that are products of the e-shop. */
  readonly knownSkus: ReadonlySet<string>;
}

interface Editing<Rec extends object, Input extends object, Context> {
  readonly entry: CatalogueEntry;
  /** The field of its lines, and the part of the lines that an e-shop writes: they can be sent back as read. */
  readonly lines?: { readonly field: string; writable(lines: unknown): unknown };
  readonly schema: v.GenericSchema<unknown, Input>;
  /** The schema of an update, if different. */
  readonly updateSchema?: v.GenericSchema<unknown, Input>;
  /** All rules except the identifier's, which is the same for all kinds. */
  readonly rules?: readonly Rule<Context>[];
  /** Fields that keep these values in an update, whatever its body says. */
  fixed?(record: Rec, sent: object): object;
  /** The only fields that can still be changed; null if all can. */
  changeable?(record: Rec): readonly string[] | null;
  /** The record made from an input; `before` is null on creation. */
  apply(input: Input, before: Rec | null, context: Context): Rec;
}

/** Pure functions from the record before to the record after; `body` is the unchecked body of the request. */
export type Edits<Rec extends object, Context> = ReturnType<typeof editsOf<Rec, object, Context>>;

const skuSchema = identifier();

export function editsOf<Rec extends object, Input extends object, Context>(
  kind: Editing<Rec, Input, Context>,
) {
  const { lines, schema, updateSchema = schema } = kind;
  const { noun, idField, responseOnly } = kind.entry;

  const identity = rulesOf<Record<string, unknown>, Context>()([idField], (_value, _context, before) =>
    before === null ? null : 'must be the identifier in the path: it cannot be changed',
  );
  const rules = [identity, ...(kind.rules ?? [])];

  /** A body or a record without the fields that a request may not write. */
  function writable(body: unknown): unknown {
    const sent = omitFields(body, responseOnly);
    if (lines === undefined || !isObject(sent) || !(lines.field in sent)) return sent;
    return { ...sent, [lines.field]: lines.writable(sent[lines.field]) };
  }

  function update(record: Rec, body: unknown, context: Context, kept: readonly string[] | 'all'): Rec {
    const before = fieldsOf(writable(record));
    const sent = fieldsOf(writable(body));
    const base = kept === 'all' ? before : Object.fromEntries(kept.map((name) => [name, before[name]]));
    const value = { ...base, ...sent, ...kind.fixed?.(record, sent) };
    const input = validate(updateSchema, value, { rules, before, context });
    const changeable = kind.changeable?.(record) ?? null;
    if (changeable !== null && 'status' in record)
      assertChangeable(noun, String(record.status), changeable, before, input);
    return kind.apply(input, record, context);
  }

  return {
    /** @throws Problem 400 naming everything that is wrong */
    make: (body: unknown, context: Context): Rec =>
      kind.apply(validate(schema, writable(body), { rules, before: null, context }), null, context),
    /**
     * PUT: a field left out becomes null or its default.
     * @throws Problem 400, or 409 if it is too late for the change
     */
    replace: (record: Rec, body: unknown, context: Context): Rec => update(record, body, context, [idField]),
    /**
     * PATCH: only the fields sent are changed, lists as a whole.
     * @throws Problem 400, or 409 if it is too late for the change
     */
    patch: (record: Rec, body: unknown, context: Context): Rec => update(record, body, context, 'all'),
    /** The SKUs of the lines in an unchecked body; look them up before the rules are applied. */
    skusIn(body: unknown): string[] {
      const sent = lines !== undefined && isObject(body) ? itemsOf(body[lines.field]) : [];
      const skus = sent.map((line) => (isObject(line) ? line.sku : undefined));
      return [...new Set(skus.filter((sku) => v.is(skuSchema, sku)))];
    },
  };
}
