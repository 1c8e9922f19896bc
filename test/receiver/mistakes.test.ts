/** The usual mistakes of receivers: each is named in a sentence that says what to do. */
import { describe, expect, it } from 'vitest';
import {
  memoryStore,
  type PayloadVersion,
  type ReceiverOptions,
  Refused,
  receiver,
  type Secrets,
} from '../../receiver/src/index.ts';
import { fakeDelivery, testSecret } from '../../receiver/src/testing.ts';
import { eventTypeNames } from '../../src/domain/event-types.ts';

const other = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const withSecret = (secrets: Secrets) => () => receiver({ secrets, store: memoryStore() });
const unset: Record<string, string> = {};

describe('secrets', () => {
  it.each([
    ['with a newline at its end', `${testSecret}\n`, 'begins or ends with whitespace'],
    ['with a space before it', ` ${testSecret}`, 'begins or ends with whitespace'],
    ['that was wrapped', `${testSecret.slice(0, 20)}\n${testSecret.slice(20)}`, 'was it wrapped'],
    ['in quotes', `"${testSecret}"`, 'quotation mark'],
    ['that is not set', unset.WEBHOOK_SECRET ?? '', 'is empty'],
    ['that is the API key', `wb_${'8Kq3'.repeat(10)}abc`, 'is an API key'],
    ['that is too short', 'our-secret-of-23-letters'.slice(1), 'neither begins with whsec_'],
    ['that is not ASCII', `${'é'.repeat(24)}`, 'neither begins with whsec_'],
    ['of too few bytes', `whsec_${Buffer.alloc(23).toString('base64')}`, 'was all of it copied?'],
    ['that was cut off', testSecret.slice(0, -5), 'was all of it copied?'],
  ])('a secret %s is refused at once, and not repeated', (_, secret, message) => {
    expect(withSecret(secret)).toThrow(message);
    expect(withSecret([testSecret, secret])).toThrow('secrets[1]');
    expect(withSecret({ CREATE_ORDER: secret })).toThrow(`secrets.CREATE_ORDER`);
    if (secret.length > 8) expect(withSecret(secret)).not.toThrow(secret.trim());
  });

  it.each([
    'our own secret, of 24 an',
    '0123456789abcdef0123456789abcdef'.repeat(8),
    `whsec_${Buffer.alloc(24, 7).toString('base64')}`,
    `whsec_${Buffer.alloc(64, 7).toString('base64')}`,
  ])('a chosen secret is accepted: %s', (secret) => {
    expect(withSecret(secret)).not.toThrow();
  });

  it('a secret is required', () => {
    expect(withSecret([])).toThrow('secrets is an empty list');
    expect(withSecret({})).toThrow('secrets is empty');
    // As JavaScript would pass it.
    const options: { secrets: Secrets } = JSON.parse('{}');
    expect(withSecret(options.secrets)).toThrow('is the variable it comes from set?');
    const listed: string[] = JSON.parse('[null]');
    expect(withSecret(listed)).toThrow('secrets[0] is null');
  });
});

/** The developer's message in the log of the delivery, and the problems passed to `onProblem`. */
async function rejection(request: Request, options: Partial<ReceiverOptions<PayloadVersion>> = {}) {
  const problems: unknown[] = [];
  const hooks = receiver({
    secrets: [testSecret, other],
    store: memoryStore(),
    onProblem: (problem) => problems.push(problem),
    ...options,
  }).otherwise(() => {});
  const response = await hooks(request);
  const [problem] = problems;
  if (!(problem instanceof Refused)) throw new Error(`${response.status}: nothing was refused`);
  expect(await response.text()).toBe(`${problem.message}\n`);
  expect(response.status).toBe(problem.status);
  expect(Buffer.byteLength(problem.message)).toBeLessThan(1_024);
  for (const secret of [testSecret, other]) expect(problem.message).not.toContain(secret.slice(6));
  return [problem.code, problem.message] as const;
}
/** The same request with another body or headers. */
async function altered(request: Request, body: string, headers: Record<string, string> = {}) {
  const all = new Headers(request.headers);
  for (const [name, value] of Object.entries(headers)) all.set(name, value);
  return new Request(request.url, { method: 'POST', headers: all, body });
}

describe('requests', () => {
  it('a body that was read before, or is being read elsewhere, is named', async () => {
    const [read, reading] = [await fakeDelivery('CREATE_ORDER'), await fakeDelivery('CREATE_ORDER')];
    await read.json();
    reading.body?.getReader();
    for (const request of [read, reading])
      expect(await rejection(request)).toEqual(['body', expect.stringContaining('read before it got here')]);
  });

  it.each([
    [
      'was parsed and written again',
      (text: string) => JSON.stringify(JSON.parse(text), null, 2),
      'signature',
      'parsed and serialized again',
    ],
    ['is empty', () => '', 'signature', 'The body is empty'],
    ['is too large', () => ' '.repeat(1_048_577), 'body', '1048576'],
  ])('a body that %s is refused with its cause', async (_, change, code, message) => {
    const request = await fakeDelivery('CREATE_ORDER');
    const changed = await altered(request, change(await request.clone().text()));
    expect(await rejection(changed)).toEqual([code, expect.stringContaining(message)]);
  });

  it('another secret is named as the cause', async () => {
    const stranger = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
    expect(await rejection(await fakeDelivery('CREATE_ORDER', { secrets: stranger }))).toEqual([
      'signature',
      expect.stringMatching(/any of the 2 secrets for CREATE_ORDER of webhook 1.*Each has its own/),
    ]);
  });

  it('a path changed by a proxy is refused, unless the receiver knows the original one', async () => {
    const sent = await fakeDelivery('CREATE_ORDER', {
      method: 'GET',
      url: 'https://shop.example/api/hooks/',
    });
    const routed = () => new Request('https://inside.example/hooks/2026-10001', { headers: sent.headers });
    expect(await rejection(routed())).toEqual(['signature', expect.stringContaining('"/hooks/2026-10001"')]);
    const hooks = receiver({
      secrets: testSecret,
      store: memoryStore(),
      target: (request) => `/api${new URL(request.url).pathname}`,
      read: async () => ({}),
    }).otherwise(() => {});
    expect((await hooks(routed())).status).toBe(200);
  });

  it.each([
    [-400_000, /400 s in the past/],
    [3_600_000, /3600 s in the future/],
  ])('a clock that is off by %i ms is refused', async (off, message) => {
    const now = Math.floor(Date.now() / 1_000) * 1_000;
    const request = await fakeDelivery('CREATE_ORDER', { at: new Date(now + off) });
    expect(await rejection(request, { now: () => now })).toEqual(['time', expect.stringMatching(message)]);
  });

  it('the tolerance for clocks can be raised', async () => {
    const request = await fakeDelivery('CREATE_ORDER', { at: new Date(Date.now() - 400_000) });
    const hooks = receiver({ secrets: testSecret, store: memoryStore(), tolerance: 500 }).otherwise(() => {});
    expect((await hooks(request)).status).toBe(200);
  });

  it.each([
    'X-Service-Signature',
    'X-Service-Delivery',
    'X-Service-Event',
    'X-Service-Event-Id',
    'X-Service-Event-Time',
    'X-Service-Sequence',
    'X-Service-Webhook',
    'X-Service-Attempt',
  ])('a request without %s is refused', async (name) => {
    const request = await fakeDelivery('CREATE_ORDER');
    request.headers.delete(name);
    expect(await rejection(request)).toEqual(['headers', expect.stringContaining(`${name} is missing`)]);
  });

  it.each(['X-Service-Sequence', 'X-Service-Webhook', 'X-Service-Attempt', 'X-Service-Event-Time'])(
    'a meaningless %s is refused',
    async (name) => {
      const request = await fakeDelivery('CREATE_ORDER');
      request.headers.set(name, 'soon');
      expect(await rejection(request)).toEqual(['headers', expect.stringContaining(`${name} is not a`)]);
    },
  );

  it.each([
    ['X-Service-Delivery', 'two'],
    ['X-Service-Event-Id', 'two'],
    ['X-Service-Event', 'UPDATE_ORDER'],
    ['X-Service-Sequence', '2'],
    ['X-Service-Webhook', '2'],
    ['X-Service-Test', 'true'],
  ])('a changed %s is refused, which v1 would not notice', async (name, value) => {
    const request = await fakeDelivery('CREATE_ORDER');
    const changed = await altered(request, await request.clone().text(), { [name]: value });
    expect(await rejection(changed)).toEqual(['signature', expect.stringContaining('though v1 does')]);
  });

  it('another path is refused, which v1 of a POST would not notice', async () => {
    const { headers, body } = await fakeDelivery('CREATE_ORDER');
    const url = 'https://shop.example/hooks/other';
    const request = new Request(url, { method: 'POST', headers, body, duplex: 'half' });
    expect(await rejection(request)).toEqual(['signature', expect.stringContaining('"/hooks/other"')]);
  });
});

describe('requests without v3 and v2', () => {
  const older = async () => {
    const request = await fakeDelivery('CREATE_ORDER', { id: 'one' });
    const signature = request.headers.get('x-service-signature') ?? '';
    request.headers.set('x-service-signature', signature.replace(/,v2=.*/, ''));
    return request;
  };

  it('v1 alone is refused, unless the receiver accepts it', async () => {
    const refused = await rejection(await older());
    expect(refused).toEqual(['headers', expect.stringContaining("With accept: ['v1']")]);
    const hooks = receiver({ secrets: testSecret, store: memoryStore(), accept: ['v1'] }).otherwise(() => {});
    expect((await hooks(await older())).status).toBe(200);
  });

  it.each(['webhook-signature', 'webhook-id', 'webhook-timestamp'])('v1 needs %s beside it', async (name) => {
    const request = await older();
    request.headers.delete(name);
    const refused = await rejection(request, { accept: ['v1'] });
    expect(refused).toEqual(['headers', expect.stringContaining(`${name} is missing`)]);
  });

  it('a repeat under another id is refused, which v1 alone would not notice', async () => {
    const request = await older();
    const body = await request.clone().text();
    const repeated = await altered(request, body, { 'webhook-id': 'two', 'x-service-delivery': 'two' });
    const refused = await rejection(repeated, { accept: ['v1'] });
    expect(refused).toEqual(['signature', expect.stringContaining('webhook-id')]);
  });

  it.each([
    ['v3', ['v1', 'v2', 'v3']],
    ['v3', undefined],
    ['v2', ['v1', 'v2']],
  ] as const)('the signature %s decides if %j are accepted', async (version, accept) => {
    const request = await fakeDelivery('CREATE_ORDER');
    request.headers.set('x-service-sequence', '2');
    const refused = await rejection(request, accept === undefined ? {} : { accept });
    expect(refused).toEqual(['signature', expect.stringContaining(`${version} of X-Service-Signature`)]);
  });

  it('a changed origin is refused; by v2 alone it is accepted, and the origin is unknown', async () => {
    const request = () => fakeDelivery('UPDATE_ORDER', { origin: 'warehouse', changed: ['note'] });
    const claims = async () => {
      const forged = await request();
      forged.headers.set('x-service-origin', 'shop');
      return forged;
    };
    expect(await rejection(await claims())).toEqual([
      'signature',
      expect.stringContaining('X-Service-Origin'),
    ]);
    const seen: unknown[] = [];
    const taking = (accept: readonly ('v2' | 'v3')[]) =>
      receiver({ secrets: testSecret, store: memoryStore(), accept }).on(
        'UPDATE_ORDER',
        (_, { origin, changed }) => seen.push([origin, changed]),
      );
    expect((await taking(['v2'])(await claims())).status).toBe(200);
    expect((await taking(['v3'])(await request())).status).toBe(200);
    expect(seen).toEqual([
      [null, null],
      ['warehouse', ['note']],
    ]);
  });
});

describe('secrets by webhook', () => {
  it('a delivery must be signed with the secret of its own webhook', async () => {
    const secrets = { 7: testSecret, 8: [other] };
    const sent = (webhookId: number) => fakeDelivery('CREATE_ORDER', { webhookId });
    const hooks = receiver({ secrets, store: memoryStore() }).otherwise(() => {});
    expect((await hooks(await sent(7))).status).toBe(200);
    expect(await rejection(await sent(8), { secrets })).toEqual([
      'signature',
      expect.stringContaining('CREATE_ORDER of webhook 8 is signed with the secret of webhook 7'),
    ]);
    const unknown = await rejection(await sent(9), { secrets });
    expect(unknown).toEqual(['setup', expect.stringContaining('that of its webhook, 9,')]);
  });

  it('a function is asked for the secret of a webhook', async () => {
    const asked: unknown[] = [];
    const hooks = receiver({
      secrets: (...about) => {
        asked.push(about);
        return testSecret;
      },
      store: memoryStore(),
    }).otherwise(() => {});
    expect((await hooks(await fakeDelivery('CREATE_ORDER', { webhookId: 7 }))).status).toBe(200);
    expect(asked).toEqual([['CREATE_ORDER', 7]]);
  });
});

describe('set-up', () => {
  it('a store that is missing or incomplete is refused', () => {
    const options: ReceiverOptions = { ...JSON.parse('{}'), secrets: testSecret };
    expect(() => receiver(options)).toThrow('store is missing');
    const { handledOf: _, ...rest } = memoryStore();
    const incomplete: ReceiverOptions = Object.assign(options, { store: rest });
    expect(() => receiver(incomplete)).toThrow('no method handledOf');
  });

  it('an unknown kind is refused', () => {
    const kind: 'CREATE_ORDER' = JSON.parse('"CREATE_ORDERS"');
    const hooks = receiver({ secrets: testSecret, store: memoryStore() });
    expect(() => hooks.on(kind, () => {})).toThrow('CREATE_ORDERS is not a kind of event');
    expect(() => hooks.on(['UPDATE_ORDER', kind], () => {})).toThrow('CREATE_ORDERS');
  });

  it.each(eventTypeNames)('%s in another payloadVersion is refused', async (kind) => {
    for (const [sent, expected] of [
      ['v2', 'v21'],
      ['v21', 'v2'],
    ] as const) {
      const request = () => fakeDelivery(kind, { payloadVersion: sent });
      const message = `${kind} came in ${sent}, and this receiver expects ${expected}: give it payloadVersion: '${sent}'`;
      for (const test of [false, true]) {
        const options = { payloadVersion: expected };
        expect(await rejection(await fakeDelivery(kind, { payloadVersion: sent, test }), options)).toEqual([
          'setup',
          expect.stringContaining(message),
        ]);
      }
      for (const options of [{ payloadVersion: sent }, {}]) {
        const hooks = receiver({ secrets: testSecret, store: memoryStore(), ...options }).otherwise(() => {});
        expect((await hooks(await request())).status).toBe(200);
      }
    }
  });
});
