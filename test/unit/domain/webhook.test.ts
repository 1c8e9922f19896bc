/** The rules of a webhook, and the limits of an e-shop's contract. */
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { contractOf, contractProblems } from '../../../src/domain/contract.ts';
import { type EventType, eventTypeNames } from '../../../src/domain/event-types.ts';
import { Problem } from '../../../src/domain/problem.ts';
import { validate } from '../../../src/domain/validation.ts';
import { settingsOf, webhookInputSchema, withDefaults } from '../../../src/domain/webhook.ts';
import { typeRules } from '../../../src/domain/webhook-rules.ts';
import { ownSecretField, secretProblem } from '../../../src/domain/webhook-secret.ts';
import { urlProblem } from '../../../src/domain/webhook-url.ts';

const body = { url: 'https://shop.example/h', webhookType: 'UPDATE_ORDER', active: true, method: 'POST' };

/** @param stored the additional types of the webhook that it replaces */
function problemsOf(more: object, stored: readonly EventType[] = []): string[][] | 'nothing' {
  const asked = { rules: typeRules(stored), before: null, context: null };
  try {
    validate(webhookInputSchema, { ...body, ...more }, asked);
    return 'nothing';
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return error.problems.map(({ path, message }) => [path, message]);
  }
}

const NO_LATEST = 'latest is not for stock movements: each is a record of its own';
const NO_PERSONAL_DATA = [
  ['parameters.withoutPersonalData', 'allowed only for POST webhooks with a type of orders or returns'],
];
const CHARACTERS = 'must not contain spaces, control characters or backslashes';
const PARTS = 'must not contain . or .. as a part of its path';
const PERCENT = 'must not contain a % without two hexadecimal digits after it';
const ABSOLUTE = 'must be an absolute http: or https: URL';

test.each([
  ['https://shop.example/hooks?order=', null],
  ['HTTP://shop.example', null],
  ['http://user@shop.example', 'must not contain a user name or password'],
  ['http://shop.example/@', null],
  ['http://shop.example?@', null],
  ['http://shop.example/#', 'must not contain a fragment'],
  ['http://shop.example/a b', CHARACTERS],
  ['http:\\\\shop.example', CHARACTERS],
  ['http://shop.example/\u0000', CHARACTERS],
  ['http://shop.example/\u001f', CHARACTERS],
  ['http://shop.example/\u007f', CHARACTERS],
  ['http://shop.example:0/h', 'must not have the port 0'],
  ['http://shop.example/a/../b', PARTS],
  ['http://shop.example/a/.', PARTS],
  ['http://shop.example/%2E%2e?a=b', PARTS],
  ['http://shop.example/a..b/.well-known?path=/../', null],
  ['http://shop.example/%zz', PERCENT],
  ['http://shop.example/%2x', PERCENT],
  ['http://shop.example/?order=%', PERCENT],
  ['http://shop.example/%C5%BE', null],
  ['ftp://shop.example', ABSOLUTE],
  ['http:shop.example', ABSOLUTE],
  ['http:///shop.example', ABSOLUTE],
  ['xhttp://shop.example', ABSOLUTE],
  ['http://[', ABSOLUTE],
  ['/hooks', ABSOLUTE],
  [`http://a.cz/${'x'.repeat(2036)}`, null],
  [`http://a.cz/${'😀'.repeat(2036)}`, null],
  [`http://a.cz/${'x'.repeat(2037)}`, 'must have at most 2048 characters'],
])('the URL %j: %s', (url, problem) => {
  expect(urlProblem(url)).toBe(problem);
});

const encoded = (bytes: number) => `whsec_${Buffer.alloc(bytes, 251).toString('base64')}`;
const LENGTH = 'must be 24 to 256 characters long';
const ASCII = 'must consist of printable ASCII characters';
const ENCODED = 'must be whsec_ followed by the base64 of 24 to 64 bytes, or not begin with whsec_';

test.each([
  ['x'.repeat(24), null],
  ['x'.repeat(256), null],
  [` ~${'x'.repeat(22)}`, null],
  ['WHSEC_this is no prefix, whsec_ neither', null],
  [encoded(24), null],
  [encoded(32), null],
  [encoded(64), null],
  ['x'.repeat(23), LENGTH],
  ['x'.repeat(257), LENGTH],
  ['', LENGTH],
  [`${'x'.repeat(24)}\n`, ASCII],
  [`${'x'.repeat(24)}\u007f`, ASCII],
  [`${'x'.repeat(24)}ž`, ASCII],
  [encoded(23), ENCODED],
  [encoded(65), ENCODED],
  ['whsec_', LENGTH],
  [encoded(32).slice(0, -1), ENCODED],
  [`${encoded(32).slice(0, -2)}9=`, ENCODED],
  [encoded(32).replaceAll('+', '-'), ENCODED],
  [`whsec_ ${encoded(32).slice(6)}`, ENCODED],
])('the secret %j: %s', (secret, problem) => {
  expect(secretProblem(secret)).toBe(problem);
});

test('a supplied secret follows the same rules; null counts as omitted', () => {
  const problems = (secret: unknown) =>
    v.safeParse(ownSecretField, secret).issues?.map(({ message }) => message);
  expect(['x'.repeat(24), null, undefined].map(problems)).toEqual([undefined, undefined, undefined]);
  expect(problems('short')).toEqual([LENGTH]);
  expect(problems(7)).toEqual(['must be a string']);
});

describe('the body', () => {
  test('omitted fields have their defaults', () => {
    expect(v.parse(webhookInputSchema, body)).toEqual({
      ...body,
      parameters: null,
      payloadVersion: 'v2',
      description: null,
    });
  });

  test.each([
    [{ url: 7 }, [['url', 'must be a string']]],
    [{ url: '' }, [['url', 'must not be empty']]],
    [{ url: 'shop' }, [['url', ABSOLUTE]]],
    [{ webhookType: 'X' }, [['webhookType', `must be one of ${eventTypeNames.join(', ')}`]]],
    [{ active: 1 }, [['active', 'must be true or false']]],
    [{ method: 'PUT' }, [['method', 'must be POST or GET']]],
    [{ method: 'GET' }, 'nothing'],
    [{ payloadVersion: 'v3' }, [['payloadVersion', 'must be v2 or v21']]],
    [{ payloadVersion: 'v21' }, 'nothing'],
    [{ description: 'x'.repeat(1000) }, 'nothing'],
    [{ description: '😀'.repeat(1000) }, 'nothing'],
    [{ description: 'x'.repeat(1001) }, [['description', 'must have at most 1000 characters']]],
    [{ description: 7 }, [['description', 'must be a string']]],
    [{ ordering: 'record' }, 'nothing'],
    [{ ordering: 'latest' }, 'nothing'],
    [{ ordering: 'newest' }, [['ordering', 'must be none, record or latest']]],
    [{ webhookType: 'CREATE_STOCK_MOVEMENT_ORDER', ordering: 'record' }, 'nothing'],
    [{ webhookType: 'CREATE_STOCK_MOVEMENT_ORDER', ordering: 'latest' }, [['ordering', NO_LATEST]]],
    [{ additionalTypes: ['CREATE_ORDER', 'CREATE_ORDER'] }, 'nothing'],
    [{ additionalTypes: [] }, 'nothing'],
    [{ additionalTypes: null }, 'nothing'],
    [{ additionalTypes: 'CREATE_ORDER' }, [['additionalTypes', 'must be a list of event types']]],
    [{ additionalTypes: ['X'] }, [['additionalTypes.0', `must be one of ${eventTypeNames.join(', ')}`]]],
    [{ additionalTypes: ['CREATE_STOCK_MOVEMENT_ORDER'], ordering: 'latest' }, [['ordering', NO_LATEST]]],
    [
      {
        webhookType: 'CREATE_ORDER',
        additionalTypes: ['UPDATE_ORDER'],
        parameters: { withPackingLists: true },
      },
      'nothing',
    ],
    [{ parameters: {} }, 'nothing'],
    [{ parameters: { withoutPersonalData: true } }, 'nothing'],
    [{ webhookType: 'UPDATE_RETURN_STATUS', parameters: { withoutPersonalData: true } }, 'nothing'],
    [{ webhookType: 'CREATE_PRODUCT', method: 'GET', parameters: { withoutPersonalData: false } }, 'nothing'],
    [{ webhookType: 'CREATE_PRODUCT', parameters: { withoutPersonalData: true } }, NO_PERSONAL_DATA],
    [
      { webhookType: 'CREATE_STOCK_MOVEMENT_RETURN', parameters: { withoutPersonalData: true } },
      NO_PERSONAL_DATA,
    ],
    [{ method: 'GET', parameters: { withoutPersonalData: true } }, NO_PERSONAL_DATA],
    [
      {
        webhookType: 'CREATE_PRODUCT',
        additionalTypes: ['CREATE_RETURN'],
        parameters: { withoutPersonalData: true },
      },
      'nothing',
    ],
    [{ parameters: { withPackingLists: true } }, 'nothing'],
    [{ parameters: { withPackingLists: 1 } }, [['parameters.withPackingLists', 'must be true or false']]],
    [{ webhookType: 'UPDATE_ORDER_STATUS', parameters: { withPackingLists: true } }, 'nothing'],
    [{ webhookType: 'CREATE_ORDER', parameters: { withPackingLists: false } }, 'nothing'],
    [{ webhookType: 'CREATE_ORDER', parameters: null }, 'nothing'],
    [{ webhookType: 'UPDATE_PRODUCT', parameters: { onStockChange: true } }, 'nothing'],
    [{ additionalTypes: ['UPDATE_PRODUCT'], parameters: { onStockChange: true } }, 'nothing'],
    [
      { parameters: { onStockChange: true } },
      [['parameters.onStockChange', 'allowed only for UPDATE_PRODUCT']],
    ],
    [{ skipOwn: 'yes' }, [['skipOwn', 'must be true or false']]],
    [
      { webhookType: 'CREATE_ORDER', parameters: { withPackingLists: true } },
      [['parameters.withPackingLists', 'allowed only for UPDATE_ORDER and UPDATE_ORDER_STATUS']],
    ],
  ])('with %j: %j', (more, problems) => {
    expect(problemsOf(more)).toEqual(problems);
  });

  test('an unknown field is refused', () => {
    expect(v.is(webhookInputSchema, { ...body, events: [] })).toBe(false);
    expect(v.is(webhookInputSchema, { ...body, parameters: { packingLists: true } })).toBe(false);
  });
});

test("a webhook's settings are the fields that its e-shop writes", () => {
  const settings = withDefaults(v.parse(webhookInputSchema, body));
  expect(settingsOf(Object.assign({ id: 7, registeredAt: '2026-11-20T19:33:00.000Z' }, settings))).toEqual(
    settings,
  );
});

describe('additional types', () => {
  const additionalOf = (more: object, before?: Parameters<typeof withDefaults>[1]) =>
    withDefaults(v.parse(webhookInputSchema, { ...body, ...more }), before).additionalTypes;
  const before: Parameters<typeof withDefaults>[1] = {
    ordering: 'none',
    skipOwn: false,
    asymmetric: false,
    additionalTypes: ['CREATE_ORDER', 'CREATE_RETURN'],
  };

  test('are in the order of the interface, each once, without the main one', () => {
    const additionalTypes = ['CREATE_RETURN', 'UPDATE_ORDER', 'CREATE_ORDER', 'CREATE_RETURN'];
    expect(additionalOf({ webhookType: 'UPDATE_ORDER', additionalTypes })).toEqual([
      'CREATE_ORDER',
      'CREATE_RETURN',
    ]);
    expect(additionalOf({})).toEqual([]);
  });

  test('stay if a replacement omits them, and are cleared by null or an empty list', () => {
    expect(additionalOf({}, before)).toEqual(['CREATE_ORDER', 'CREATE_RETURN']);
    expect(additionalOf({ webhookType: 'CREATE_ORDER' }, before)).toEqual(['CREATE_RETURN']);
    expect(additionalOf({ additionalTypes: null }, before)).toEqual([]);
    expect(additionalOf({ additionalTypes: [] }, before)).toEqual([]);
  });

  test('are checked against a replacement that omits them', () => {
    const pathsOf = (more: object) => {
      const stored: EventType[] = ['UPDATE_ORDER', 'CREATE_STOCK_MOVEMENT_ORDER'];
      const found = problemsOf({ webhookType: 'CREATE_ORDER', ...more }, stored);
      return found === 'nothing' ? found : found.map(([path]) => path);
    };
    expect(pathsOf({ parameters: { withPackingLists: true } })).toBe('nothing');
    expect(pathsOf({ parameters: { withPackingLists: true }, additionalTypes: [] })).toEqual([
      'parameters.withPackingLists',
    ]);
    expect(pathsOf({ ordering: 'latest' })).toEqual(['ordering']);
    expect(pathsOf({ ordering: 'latest', additionalTypes: null })).toBe('nothing');
  });
});

describe('the contract', () => {
  const wanted = v.parse(webhookInputSchema, { ...body, parameters: { withPackingLists: true } });
  const all = {
    webhookTypes: null,
    payloadVersions: null,
    withPackingLists: true,
    maxWebhooks: 100,
    deleteWebhooks: true,
  };

  test('an omitted limit allows everything', () => {
    expect(contractOf(null)).toEqual(all);
    expect(contractOf({ webhookTypes: null, maxWebhooks: 0 })).toEqual({ ...all, maxWebhooks: 0 });
    expect(contractProblems(contractOf({}), wanted)).toEqual([]);
  });

  test.each([
    [{ maxWebhooks: -1 }],
    [{ maxWebhooks: 1.5 }],
    [{ webhookTypes: 'CREATE_ORDER' }],
    [{ payloadVersions: 'v2' }],
  ])('%j is not a contract', (stored) => {
    expect(() => contractOf(stored)).toThrow();
  });

  test('values of a newer release are dropped', () => {
    const stored = {
      payloadVersions: ['v3', 'v21'],
      webhookTypes: ['CREATE_PARCEL', 'CREATE_ORDER'],
      other: 1,
    };
    expect(contractOf(stored)).toEqual({ ...all, payloadVersions: ['v21'], webhookTypes: ['CREATE_ORDER'] });
  });

  test('forbidden settings are reported all at once', () => {
    const contract = contractOf({
      webhookTypes: ['CREATE_ORDER'],
      payloadVersions: ['v21'],
      withPackingLists: false,
    });
    expect(contractProblems(contract, wanted)).toEqual([
      { path: 'webhookType', message: 'the contract does not allow UPDATE_ORDER' },
      { path: 'payloadVersion', message: 'the contract does not allow v2' },
      { path: 'parameters.withPackingLists', message: 'the contract does not allow packing lists' },
    ]);
  });

  test('each forbidden type is reported', () => {
    const contract = contractOf({ webhookTypes: ['CREATE_ORDER'] });
    const several = {
      ...wanted,
      webhookType: 'CREATE_ORDER',
      additionalTypes: ['CREATE_RETURN', 'UPDATE_ORDER', 'CREATE_ORDER'],
    } as const;
    expect(contractProblems(contract, { ...several, additionalTypes: [...several.additionalTypes] })).toEqual(
      [
        { path: 'additionalTypes', message: 'the contract does not allow UPDATE_ORDER' },
        { path: 'additionalTypes', message: 'the contract does not allow CREATE_RETURN' },
      ],
    );
  });

  test('allowed settings are not reported', () => {
    const contract = contractOf({ webhookTypes: ['UPDATE_ORDER'], payloadVersions: ['v2'] });
    expect(contractProblems(contract, wanted)).toEqual([]);
    const without = contractOf({ withPackingLists: false });
    expect(contractProblems(without, { ...wanted, parameters: null })).toEqual([]);
    expect(contractProblems(without, { ...wanted, parameters: { withPackingLists: false } })).toEqual([]);
  });
});
