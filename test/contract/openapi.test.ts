/** `/openapi.json` as tools see it: valid OpenAPI 3.1, each kind of delivery with payload, headers and examples. */
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { entryOf } from '../../src/domain/catalogue.ts';
import { payloadVersions } from '../../src/domain/decimal.ts';
import { eventTypeNames, eventTypes, packingListEventTypes } from '../../src/domain/event-types.ts';
import { apiOfFile } from '../support/lifetimes.ts';

const ajv = new Ajv2020({ strict: false, validateFormats: false });

const api = await apiOfFile();
// biome-ignore lint/suspicious/noExplicitAny: the test looks at the document as any tool would
const document: any = JSON.parse((await api.anonymous('GET', '/openapi.json')).text);
ajv.addSchema(document, 'openapi.json');

const schemaOf = (name: string) => ajv.compile({ $ref: `openapi.json#/components/schemas/${name}` });

test('the document is valid OpenAPI 3.1', async () => {
  const result = await new Validator().validate(structuredClone(document));
  expect(result.errors).toBeUndefined();
  expect(result.valid).toBe(true);
  expect(document.openapi).toMatch(/^3\.1\./);
});

test('the document has a webhook for every event type', () => {
  expect(Object.keys(document.webhooks)).toEqual(eventTypeNames);
});

describe.each(eventTypeNames)('%s', (type) => {
  test('is documented with its occasion, payload and headers, for POST and GET', () => {
    const { post, get } = document.webhooks[type];
    for (const { summary, parameters } of [post, get]) {
      expect(summary).toContain(eventTypes[type].firesWhen);
      expect(parameters.map(({ name }: { name: string }) => name)).toEqual([
        'X-Service-Signature',
        'X-Service-Event',
        'X-Service-Event-Id',
        'X-Service-Event-Time',
        'X-Service-Sequence',
        'X-Service-Origin',
        // A creation changes no fields.
        ...(eventTypes[type].on === 'created' ? [] : ['X-Service-Changed']),
        'X-Service-Webhook',
        'X-Service-Delivery',
        'X-Service-Attempt',
        'webhook-id',
        'webhook-timestamp',
        'webhook-signature',
      ]);
    }
    expect(get).not.toHaveProperty('requestBody');
    expect(get.description).toContain(`\`${entryOf(type).idField}\``);
    const refs = post.requestBody.content['application/json'].schema.anyOf.map(({ $ref }: { $ref: string }) =>
      $ref.split('/').at(-1),
    );
    expect(refs[0]).toBe(`${refs[1]}V2`);
  });

  test.each(payloadVersions)('has an example of %s that is valid in that version alone', (version) => {
    const { schema, examples } = document.webhooks[type].post.requestBody.content['application/json'];
    const [v2, v21] = schema.anyOf.map(({ $ref }: { $ref: string }) =>
      schemaOf($ref.split('/').at(-1) ?? ''),
    );
    const [mine, other] = version === 'v2' ? [v2, v21] : [v21, v2];
    const { value } = examples[version];
    expect(mine(value), JSON.stringify(mine.errors)).toBe(true);
    expect(other(value)).toBe(false);
    const hasLists = JSON.stringify(value).includes('packingLists');
    expect(hasLists).toBe(packingListEventTypes.includes(type));
    if (entryOf(type).kind === 'stockMovement') {
      expect(`CREATE_STOCK_MOVEMENT_${value.type.toUpperCase()}`).toBe(type);
    }
  });
});
