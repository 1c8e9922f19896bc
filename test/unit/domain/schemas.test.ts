/** The schemas of all records: their descriptions, their enumerations, and the forms of a record. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { describeSchema } from '../../../src/api/json-schema.ts';
import { type CatalogueEntry, catalogue } from '../../../src/domain/catalogue.ts';
import { contractSchema } from '../../../src/domain/contract.ts';
import { count, money, payloadVersions, writtenDecimal } from '../../../src/domain/decimal.ts';
import { eshopPatchSchema, eshopRecordSchema } from '../../../src/domain/eshop.ts';
import { eventTypes } from '../../../src/domain/event-types.ts';
import { examinationSchema } from '../../../src/domain/examination.ts';
import { country, currency, flag, identifier, oneOf, optional, text } from '../../../src/domain/fields.ts';
import { list } from '../../../src/domain/list.ts';
import { packingListsSchema } from '../../../src/domain/order/packing-lists.ts';
import { documentedEntries, orderEntries, orderInputSchema } from '../../../src/domain/order/schema.ts';
import { productInputSchema } from '../../../src/domain/product/schema.ts';
import { receivingInputSchema, receivingLinesSchema } from '../../../src/domain/receiving/schema.ts';
import {
  fieldKinds,
  recordObject,
  versionSchema,
  writtenTimestamp,
} from '../../../src/domain/record-schema.ts';
import { returnInputSchema, returnLinesSchema } from '../../../src/domain/return/schema.ts';
import { shipperSchema } from '../../../src/domain/shipper-services.ts';
import { stockMovementInputSchema } from '../../../src/domain/stock/movement.ts';
import { testResultSchema } from '../../../src/domain/test-delivery.ts';
import { timestamp } from '../../../src/domain/timestamp.ts';
import {
  webhookInputSchema,
  webhookRecordSchema,
  webhookWithSecretSchema,
} from '../../../src/domain/webhook.ts';

const inputs = {
  order: orderInputSchema,
  packingLists: packingListsSchema,
  product: productInputSchema,
  receiving: receivingInputSchema,
  receivingLines: receivingLinesSchema,
  return: returnInputSchema,
  returnLines: returnLinesSchema,
  stockMovement: stockMovementInputSchema,
  webhook: webhookInputSchema,
  webhookRecord: webhookRecordSchema,
  webhookWithSecret: webhookWithSecretSchema,
  contract: contractSchema,
  eshopRecord: eshopRecordSchema,
  eshopPatch: eshopPatchSchema,
  examination: examinationSchema,
  testResult: testResultSchema,
  shipper: shipperSchema,
};
/** Made on demand, so that the code that makes them runs within a test. */
const records = Object.values(catalogue).flatMap((entry) =>
  payloadVersions.map((version) => [`${entry.kind} ${version}`, () => entry.recordSchema(version)] as const),
);
const schemas: (readonly [string, () => v.GenericSchema])[] = [
  ...Object.entries(inputs).map(([name, schema]) => [name, () => schema] as const),
  ...records,
];

/** Every empty text or list in a schema, with its path. Defaults may be empty. */
function emptyIn(value: unknown, path: string, seen = new Set<unknown>()): string[] {
  if (value === '') return [path];
  if (typeof value !== 'object' || value === null || seen.has(value)) return [];
  seen.add(value);
  const entries = Object.entries(value);
  if (Array.isArray(value) && entries.length === 0) return [path];
  return entries
    .filter(([name]) => name !== 'default' && name !== 'fallback')
    .flatMap(([name, inner]) => emptyIn(inner, `${path}.${name}`, seen));
}

test.each(schemas)('%s: no description, enumeration or pattern is empty', (name, make) => {
  expect(emptyIn(make(), name)).toEqual([]);
});

test('the documentation lists the loaded marketplaces, and other fields unchanged', () => {
  const { marketplace, ...others } = documentedEntries(['bazaar']);
  expect(v.getMetadata(marketplace.wrapped).jsonSchema).toEqual({ type: 'string', enum: ['bazaar'] });
  const { marketplace: _shipped, ...fields } = orderEntries;
  expect(others).toEqual(fields);
});

test('each event says when it fires, beginning with an article', () => {
  for (const { firesWhen } of Object.values(eventTypes)) expect(firesWhen).toMatch(/^(an?|the) .+ /);
});

describe('kinds of stored fields', () => {
  /** The fields of each kind that is converted for storage. */
  const kinds = (entry: CatalogueEntry, list?: string) => {
    const fields = [...fieldKinds(entry.recordSchema('v2'), list)];
    const of = (kind: string) => fields.filter(([, each]) => each === kind).map(([name]) => name);
    return { timestamp: of('timestamp'), decimal: of('decimal'), json: of('json') };
  };

  test('a record has timestamps, decimals and JSON; all else is stored as it is', () => {
    expect(kinds(catalogue.order)).toEqual({
      timestamp: [
        ...['releaseAt', 'requiredExpeditionDate'],
        ...['createdAt', 'updatedAt', 'deliveredAt', 'canceledAt'],
      ],
      decimal: ['cashOnDelivery'],
      json: ['orderFiles', 'orderProducts', 'statusHistory'],
    });
    expect(fieldKinds(catalogue.order.recordSchema('v2')).get('trackingNumbers')).toBe('plain');
    expect(kinds(catalogue.stockMovement)).toEqual({
      timestamp: ['expirationDate', 'createdAt'],
      decimal: ['count', 'balance'],
      json: [],
    });
  });

  test('a line has timestamps, decimals and JSON too', () => {
    expect(kinds(catalogue.order, 'orderProducts')).toEqual({
      timestamp: [],
      decimal: ['quantity', 'unitPrice', 'vatRate'],
      json: ['packingLists'],
    });
    expect(kinds(catalogue.receiving, 'products')).toEqual({
      timestamp: ['expirationDate'],
      decimal: ['quantity', 'received'],
      json: [],
    });
    for (const field of ['note', 'nothing']) {
      expect(() => kinds(catalogue.order, field)).toThrow(`${field} is not a list.`);
    }
  });
});

describe('the record’s form of a field', () => {
  const accepts = (schema: v.GenericSchema, version: 'v2' | 'v21', ...values: unknown[]) =>
    values.map((value) => v.is(versionSchema(schema, version), value));

  test('decimals take the form of the version, at any depth', () => {
    expect(accepts(money(), 'v2', '1.00', '1', 1)).toEqual([true, false, false]);
    expect(accepts(money(), 'v21', '1.00', 1)).toEqual([false, true]);
    expect(accepts(count(), 'v2', '1', '1.50', 1)).toEqual([true, false, false]);
    expect(
      accepts(list(v.object({ a: optional(money()) }), 9), 'v2', [{ a: '1.00' }], [{ a: null }], [{ a: 1 }]),
    ).toEqual([true, true, false]);
  });

  test('an optional field is present in the record, as null or its default', () => {
    expect(accepts(optional(text(1)), 'v2', null, 'a', undefined)).toEqual([true, true, false]);
    expect(accepts(flag(), 'v2', true, null, undefined)).toEqual([true, false, false]);
    expect(accepts(v.nullable(text(1)), 'v2', null, 'a')).toEqual([true, true]);
  });

  test('timestamps are written in UTC', () => {
    // As written: it is not converted.
    const form = versionSchema(timestamp(), 'v2');
    expect(v.parse(form, '2026-11-20T19:33:00.000+01:00')).toBe('2026-11-20T19:33:00.000+01:00');
    expect(v.is(form, 'today')).toBe(false);
    expect(v.getExamples(writtenTimestamp())).toEqual(['2026-11-20T19:33:00.000Z']);
  });

  test('a record is named like its request, without a final Input', () => {
    const ref = (input: string, version: 'v2' | 'v21') =>
      v.getMetadata(versionSchema(v.pipe(v.object({ a: text(1) }), v.metadata({ ref: input })), version)).ref;
    expect(ref('LineInput', 'v21')).toBe('Line');
    expect(ref('LineInput', 'v2')).toBe('LineV2');
    expect(ref('InputLine', 'v21')).toBe('InputLine');
    expect(v.getMetadata(versionSchema(v.object({ a: text(1) }), 'v2')).ref).toBeUndefined();
  });

  test('all other fields are unchanged', () => {
    for (const schema of [identifier(), country(), currency(), oneOf(['a'])]) {
      expect(versionSchema(schema, 'v2')).toBe(schema);
    }
  });

  test('a description is kept, unless the form has its own', () => {
    const described = (schema: v.GenericSchema) =>
      v.getDescription(versionSchema(v.pipe(schema, v.description('Why.')), 'v2'));
    expect(described(optional(text(1)))).toBe('Why.');
    expect(described(money())).toBe(v.getDescription(writtenDecimal('money', 'v2')));
    expect(v.getDescription(versionSchema(optional(text(1)), 'v2'))).toBeUndefined();
  });

  test('an object keeps its fields and adds its own; a repeated name is replaced', () => {
    const form = recordObject({ a: optional(text(1)), b: money(), none: 7 }, 'v2', {
      b: v.number(),
      c: v.null(),
    });
    expect(Object.keys(form.entries)).toEqual(['a', 'b', 'c']);
    expect(v.is(form, { a: null, b: 1, c: null })).toBe(true);
    expect(v.is(form, { a: null, b: 1, c: null, d: 1 })).toBe(false);
  });
});

describe('the documentation of decimals', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const ranges = ['any', 'notNegative', 'positive', 'announced', 'notZero', 'percent'] as const;
  const made = [...ranges.map((range) => [range, () => count(range)] as const), ['money', money] as const];
  const few = fc.constantFrom(
    '-1',
    '-0',
    '0',
    '0.0',
    '0.5',
    '99.9',
    '100',
    '100.0',
    '100.1',
    '1.00001',
    '1e3',
    '',
    '.5',
  );
  const texts = fc.oneof(few, fc.stringMatching(/^-?\d{1,16}(\.\d{1,7})?$/));

  const documentedBy = (schema: v.GenericSchema) => {
    const { schema: described, components } = describeSchema(schema, 'input');
    const document: object = { allOf: [described], components: { schemas: components } };
    return ajv.compile(document);
  };

  test.each(made)('allows the same strings as the schema: %s', (range, make) => {
    const documented = documentedBy(make());
    fc.assert(
      fc.property(texts, (text) => {
        // Superfluous zeros, and lines that are sent back, are accepted beyond the document.
        const exact = !/^-?0\d|\.\d*0$|^-0/.test(text) && !(range === 'announced' && text === '0');
        if (exact || documented(text)) expect(v.is(make(), text), text).toBe(documented(text));
      }),
    );
  });

  test.each(made)('allows the same whole numbers as the schema: %s', (range, make) => {
    const documented = documentedBy(make());
    fc.assert(
      fc.property(fc.oneof(fc.integer({ min: -200, max: 200 }), fc.maxSafeInteger()), (value) => {
        if (range !== 'announced' || value !== 0) expect(v.is(make(), value)).toBe(documented(value));
      }),
    );
  });
});
