/** The examination of a receiver: its findings for good and bad ones, over HTTP. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type Answer,
  type Examination,
  examine,
  exitCodeOf,
} from '../../receiver/src/examination/examine.ts';
import { createRequester } from '../../receiver/src/examination/request.ts';
import type { Subject } from '../../receiver/src/examination/series.ts';
import { table } from '../../receiver/src/examination/table.ts';
import { memoryOrder, memoryStore, receiver } from '../../receiver/src/index.ts';
import { nodeListener } from '../../receiver/src/node.ts';
import { newPrivateKey, publicKeyOf } from '../../receiver/src/private-keys.ts';
import { sampleOf } from '../../receiver/src/samples.generated.ts';
import { testPrivateKey, testSecret } from '../../receiver/src/testing.ts';
import { entryOf } from '../../src/domain/catalogue.ts';
import { listenLocally } from '../support/servers/ports.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => unknown;

async function listening(listener: Listener): Promise<string> {
  const server = createServer((incoming, outgoing) => void listener(incoming, outgoing));
  closing.push(() => server.close().closeAllConnections());
  return `http://127.0.0.1:${await listenLocally(server)}/hooks/`;
}

const subject: Subject = {
  method: 'GET',
  body: null,
  idField: 'id',
  numbered: true,
  secrets: [testSecret],
  now: new Date('2026-10-01T00:00:00Z'),
};
const answer: Answer = { status: 204, error: null, durationMs: 20, headers: {} };

interface ExaminationOptions {
  readonly type?: 'CREATE_ORDER' | 'CREATE_PRODUCT';
  readonly method?: 'POST' | 'GET';
  readonly secrets?: readonly string[];
  /** Of the webhook, if it is asymmetric. */
  readonly privateKey?: string;
  readonly timeoutMs?: number;
}

async function examined(listener: Listener, asked: ExaminationOptions = {}): Promise<Examination> {
  const { type = 'CREATE_ORDER', method = 'POST', secrets = [testSecret], timeoutMs = 60_000 } = asked;
  const url = await listening(listener);
  const { record } = sampleOf(type, 'v2');
  const body = method === 'GET' ? null : JSON.stringify(record);
  const subject: Subject = {
    method,
    body,
    idField: entryOf(type).idField,
    numbered: false,
    secrets,
    now: new Date(),
  };
  const { privateKey } = asked;
  const privateKeys = privateKey === undefined ? null : { own: privateKey, stranger: await newPrivateKey() };
  const requester = createRequester({ url, method, kind: type, webhookId: 7, privateKeys, headers: {} });
  return await examine({ subject, ...requester, timeoutMs });
}

/** The rows that are not ok, each with its verdict. */
const faults = ({ rows }: Examination) =>
  Object.fromEntries(rows.flatMap(({ name, verdict }) => (verdict === 'ok' ? [] : [[name, verdict]])));

async function read(incoming: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part);
  return Buffer.concat(parts);
}

interface Careful {
  readonly secret: string;
  readonly version: 'v1' | 'v2';
  /** Selects the signatures of its version that it checks. */
  readonly looksAt: (signatures: readonly string[]) => readonly string[];
  readonly checksTime: boolean;
  readonly maxBytes: number;
}

/** A receiver written by hand, careful except as given: its status for a request. */
function byHand(given: Partial<Careful> = {}) {
  const settings = { secret: testSecret, version: 'v2', checksTime: true, maxBytes: 1_000_000, ...given };
  const { looksAt = (signatures: readonly string[]) => signatures } = given;
  return async (incoming: IncomingMessage): Promise<number> => {
    const body = await read(incoming);
    if (body.length > settings.maxBytes) return 413;
    const header = (name: string) => String(incoming.headers[name] ?? '');
    const fields = header('x-service-signature').split(',');
    const valuesOf = (name: string) =>
      fields.filter((field) => field.startsWith(`${name}=`)).map((field) => field.slice(name.length + 1));
    const [t = '0'] = valuesOf('t');
    if (settings.checksTime && Math.abs(Date.now() / 1_000 - Number(t)) > 300) return 401;
    const names = ['delivery', 'event-id', 'event', 'sequence', 'webhook', 'test'];
    const lines = [t, ...names.map((name) => header(`x-service-${name}`)), incoming.method, incoming.url];
    const get = incoming.method === 'GET';
    const content =
      settings.version === 'v2'
        ? Buffer.concat([Buffer.from(`${lines.join('\n')}\n`), body])
        : Buffer.concat([Buffer.from(`${t}.`), get ? Buffer.from(incoming.url ?? '') : body]);
    const wanted = createHmac('sha256', settings.secret).update(content).digest();
    const fits = (signature: string) => {
      const given = Buffer.from(signature, 'hex');
      return given.length === wanted.length && timingSafeEqual(given, wanted);
    };
    return looksAt(valuesOf(settings.version)).some(fits) ? 200 : 401;
  };
}

const answering =
  (
    statusOf: (incoming: IncomingMessage) => Promise<number>,
    headers: Record<string, string> = {},
  ): Listener =>
  async (incoming, outgoing) =>
    outgoing.writeHead(await statusOf(incoming), headers).end();

const kit = (more: object = {}) =>
  receiver({
    secrets: testSecret,
    store: memoryStore(),
    read: async () => ({}),
    onProblem: () => {},
    ...more,
  }).otherwise(() => {});

describe('good receivers', () => {
  it.each([
    ['the kit', 'POST', kit()],
    ['the kit', 'GET', kit()],
    ['the kit with an order', 'POST', kit({ order: memoryOrder() })],
  ] as const)('no fault is found in %s, by %s', async (_name, method, hooks) => {
    const found = await examined(nodeListener(hooks), { method });
    expect(faults(found)).toEqual({});
    expect(found).toMatchObject({ complete: true, answerMs: expect.any(Number) });
    expect(found.rows).toHaveLength(method === 'POST' ? 14 : 13);
  });

  it('no fault is found in a careful receiver with its own secret, or with the former one', async () => {
    const own = 'a secret of our own, as plain text';
    const found = await examined(answering(byHand({ secret: testSecret })), { secrets: [own, testSecret] });
    expect(faults(found)).toEqual({});
    expect(faults(await examined(nodeListener(kit({ secrets: own })), { secrets: [own] }))).toEqual({});
  });
});

describe('asymmetric signatures', () => {
  const asked = { privateKey: testPrivateKey };
  const publicKeys = publicKeyOf(testPrivateKey);
  const alone = () => receiver({ publicKeys, store: memoryStore(), onProblem: () => {} }).otherwise(() => {});

  it('no fault is found in the kit, except for what v1a does not cover', async () => {
    expect(faults(await examined(nodeListener(alone()), asked))).toEqual({ 'only v1 matches': 'warning' });
    expect(faults(await examined(nodeListener(kit({ publicKeys })), asked))).toEqual({});
  });

  it.each(['first', 'last'] as const)('a receiver that looks at the %s v1a alone is found', async (which) => {
    const hooks = nodeListener(alone());
    const found = await examined((incoming, outgoing) => {
      const [v1 = '', ...given] = String(incoming.headers['webhook-signature'] ?? '').split(/ (?=v1a)/);
      incoming.headers['webhook-signature'] = `${v1} ${given.at(which === 'first' ? 0 : -1) ?? ''}`;
      return hooks(incoming, outgoing);
    }, asked);
    expect(faults(found)).toMatchObject({ 'two signatures': 'fail' });
    expect(faults(found)).not.toHaveProperty('valid request');
  });
});

describe('faults', () => {
  const unverified = {
    'wrong signature': 'fail',
    'no signature': 'fail',
    'old timestamp': 'fail',
    'only v1 matches': 'warning',
  };
  const refusing = ['valid request', 'repeat', 'older sequence', 'greatest payload', 'unknown fields'];
  const failed = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, 'fail']));
  it.each<[string, ExaminationOptions, Listener, Readonly<Record<string, string>>]>([
    [
      'accepts every POST',
      {},
      answering(async () => 204),
      { ...unverified, 'signature of another body': 'fail' },
    ],
    [
      'accepts every GET',
      { method: 'GET' },
      answering(async () => 204),
      { ...unverified, 'signature of another target': 'fail' },
    ],
    [
      'refuses everything',
      {},
      answering(async () => 401),
      failed([...refusing, 'two signatures', 'three at once']),
    ],
    ['does not look at the time', {}, answering(byHand({ checksTime: false })), { 'old timestamp': 'fail' }],
    ['checks v1', {}, answering(byHand({ version: 'v1' })), { 'only v1 matches': 'warning' }],
    [
      'looks at the first signature alone',
      {},
      answering(byHand({ looksAt: (signatures) => signatures.slice(0, 1) })),
      { 'two signatures': 'fail' },
    ],
    [
      'looks at the last signature alone',
      {},
      answering(byHand({ looksAt: (signatures) => signatures.slice(-1) })),
      { 'two signatures': 'fail' },
    ],
    [
      'takes bodies of 100 kB at most',
      {},
      answering(byHand({ maxBytes: 100_000 })),
      { 'greatest payload': 'fail' },
    ],
    [
      'takes products of 40 kB at most',
      { type: 'CREATE_PRODUCT' },
      answering(byHand({ maxBytes: 40_000 })),
      { 'greatest payload': 'fail' },
    ],
    [
      'handles repeats again, and says so',
      {},
      answering(byHand(), { 'x-waybill-handled': 'new' }),
      { repeat: 'fail' },
    ],
    [
      'redirects',
      {},
      answering(async () => 308, { location: 'https://shop.example/hooks' }),
      { ...failed([...refusing, 'two signatures', 'three at once']), redirects: 'warning' },
    ],
  ])('a receiver that %s is found', async (_name, asked, listener, expected) => {
    expect(faults(await examined(listener, asked))).toEqual(expected);
  });

  it('a receiver that handles one request at a time, refusing others, is found', async () => {
    let busy = 0;
    const found = await examine({
      subject,
      async send() {
        busy += 1;
        const refused = busy > 1;
        await new Promise(setImmediate);
        busy -= 1;
        return { ...answer, status: refused ? 503 : 204 };
      },
    });
    expect(faults(found)).toMatchObject({ 'three at once': 'fail' });
    expect(faults(found)).not.toHaveProperty('two signatures');
  });

  it('a receiver that rejects unknown fields is found', async () => {
    const { record } = sampleOf('CREATE_ORDER', 'v2');
    const found = await examined(async (incoming, outgoing) => {
      const body: object = JSON.parse((await read(incoming)).toString());
      outgoing.writeHead(Object.keys(body).every((name) => name in record) ? 204 : 400).end();
    });
    expect(faults(found)).toMatchObject({ 'unknown fields': 'fail', 'wrong signature': 'fail' });
    expect(faults(found)).not.toHaveProperty('valid request');
  });
});

describe('warnings', () => {
  const rowOf = ({ rows }: Examination, wanted: string) => rows.find(({ name }) => name === wanted);

  it('a response that takes more than a third of its time is a warning', async () => {
    const found = async (durationMs: number) =>
      rowOf(await examine({ subject, send: async () => ({ ...answer, durationMs }) }), 'answer time');
    expect(await found(5_001)).toMatchObject({
      verdict: 'warning',
      remedy: expect.stringContaining('15 seconds'),
    });
    expect(await found(5_000)).toMatchObject({ verdict: 'ok', received: '5.0 s at most, of 15.0 s' });
  });

  it('a certificate that ends within 30 days is a warning', async () => {
    const found = async (end: string | null) =>
      rowOf(
        await examine({
          subject,
          send: async () => answer,
          certificateEnd: async () => (end === null ? null : new Date(end)),
        }),
        'certificate',
      );
    expect(await found('2026-10-30T12:00:00Z')).toMatchObject({
      verdict: 'warning',
      received: 'valid until 2026-10-30',
    });
    expect(await found('2026-10-31T12:00:00Z')).toMatchObject({ verdict: 'ok', remedy: null });
    expect(await found(null)).toBeUndefined();
  });

  const unreported = {
    'wrong signature': 'warning',
    'no signature': 'warning',
    'signature of another body': 'warning',
    'old timestamp': 'warning',
    'only v1 matches': 'warning',
  };
  it('a refusal for another reason, such as too many requests, is a warning', async () => {
    let count = 0;
    const found = await examined(
      answering(async () => {
        count += 1;
        return count > 10 ? 429 : 204;
      }),
    );
    expect(faults(found)).toEqual(unreported);
    expect(rowOf(found, 'no signature')?.remedy).toMatch(
      /^Respond with 401 to wrongly signed requests, and examine/,
    );
  });

  it('a connection that is closed instead of a response is a warning', async () => {
    const careful = byHand();
    const found = await examined(async (incoming, outgoing) => {
      if ((await careful(incoming)) === 200) outgoing.end();
      else incoming.socket.destroy();
    });
    expect(faults(found)).toEqual(unreported);
  });
});

it.each([
  [['ok', 'warning'], true, 0],
  [['ok', 'fail'], true, 2],
  [['ok', 'fail'], false, 2],
  [['ok', 'warning'], false, 3],
  [[], false, 3],
] as const)('rows of %j (complete: %j) mean the exit code %i', (verdicts, complete, code) => {
  expect(exitCodeOf({ rows: verdicts.map((verdict) => ({ verdict })), complete })).toBe(code);
});

it('an examination ends if nobody answers, or when its time is over', async () => {
  const silent = await examined((incoming) => incoming.socket.destroy());
  expect(silent).toMatchObject({ complete: false, answerMs: null });
  expect(silent.rows).toEqual([
    expect.objectContaining({
      name: 'valid request',
      verdict: 'fail',
      received: expect.stringContaining('no answer'),
      remedy: expect.stringContaining('Start the receiver'),
    }),
  ]);
  let calls = 0;
  const over = await examine({
    subject,
    async send() {
      calls += 1;
      await new Promise((resolve) => setTimeout(resolve, 5));
      return { status: 204, error: null, durationMs: 5, headers: {} };
    },
    deadlineMs: 1,
  });
  expect(over).toMatchObject({ complete: false, rows: [] });
  expect(calls).toBe(1);
});

it.each([
  ['shop.example does not send its intermediate certificate, or …', 'fullchain.pem'],
  ['TLS certificate of shop.example has expired', 'TLS'],
  ['shop.example requires a client certificate, which Waybill does not have', 'client certificate'],
  ['shop.example did not respond with valid HTTP: a line ends without CR LF', 'curl -v'],
  ['shop.example has no address (DNS: ENOTFOUND)', 'DNS records'],
  ['shop.example refused the connection', 'Start the receiver'],
])('the remedy without a response fits the error: %s', async (error, remedy) => {
  const found = await examine({ subject, send: async () => ({ ...answer, status: null, error }) });
  expect(found.rows).toEqual([expect.objectContaining({ remedy: expect.stringContaining(remedy) })]);
});

it('each fault has a remedy of one sentence, in the language of the receiver', async () => {
  const found = await examined(answering(async () => 204, { 'x-powered-by': 'PHP/8.4' }));
  const remedy = Object.fromEntries(found.rows.map((row) => [row.name, row.remedy]));
  expect(remedy['wrong signature']).toContain('Waybill::problem(');
  expect(remedy['valid request']).toBeNull();
  for (const { verdict, remedy } of found.rows) expect(remedy === null).toBe(verdict === 'ok');
});

it('a check that fails like the valid request is not explained again', async () => {
  const remedies = ({ rows }: Examination) =>
    Object.fromEntries(rows.flatMap(({ name, remedy }) => (remedy === null ? [] : [[name, remedy]])));
  const same = 'The same as for the valid request: fix that first.';
  const found = await examined(answering(byHand({ secret: 'another secret than that of the webhook' })));
  expect(remedies(found)).toEqual({
    'valid request': expect.stringContaining('check the secret'),
    repeat: same,
    'older sequence': same,
    'greatest payload': same,
    'unknown fields': same,
    'two signatures': same,
    'three at once': same,
  });
  // Another response has another reason, and so has one that accepts what must be refused.
  let count = 0;
  const odd = answering(
    async () => {
      count += 1;
      return count === 2 ? 500 : count === 3 ? 401 : 200;
    },
    { 'x-waybill-handled': 'repeat' },
  );
  const others = remedies(await examined(odd));
  expect(others['valid request']).toBeDefined();
  expect(others['older sequence']).toContain('X-Service-Sequence');
  expect(others['wrong signature']).toContain('Compare v3');
});

it('the table shows rows, remedies and a summary, without control characters', async () => {
  const found = await examined(answering(async () => 308, { location: 'https://shop.example/\u009b31m' }));
  const shown = table(found);
  expect(shown).toContain('FAIL     valid request');
  expect(shown).toContain('→ Register the address that the redirect leads to');
  expect(shown).not.toMatch(/\p{Cc}(?<!\n)/u);
  expect(shown.trimEnd().split('\n').at(-1)).toMatch(/^7 failed, 1 with a warning, \d+ ok\.$/);
});
