/**
 * Attacks on the server without credentials, over real connections.
 */
import { connect, type Socket } from 'node:net';
import { Writable } from 'node:stream';
import pino from 'pino';
import { afterEach, describe, expect, test } from 'vitest';
import { type HttpServer, type HttpServerOptions, listen } from '../../src/http/http-server.ts';
import { apiOfFile } from '../support/lifetimes.ts';
import { until } from '../support/until.ts';

let server: HttpServer | undefined;
/** Every log line, parsed. */
// biome-ignore lint/suspicious/noExplicitAny: log lines are of any shape
const logged: any[] = [];
const stream = new Writable({
  write(chunk, _encoding, done) {
    logged.push(JSON.parse(String(chunk)));
    done();
  },
});

const api = await apiOfFile({ log: pino({ level: 'debug' }, stream) });
afterEach(async () => {
  await server?.close();
  server = undefined;
  logged.length = 0;
});

async function listening(options: HttpServerOptions = {}): Promise<HttpServer> {
  server = await listen(api.app, '127.0.0.1', 0, options);
  return server;
}

interface Connection {
  readonly socket: Socket;
  /** What has been received so far. */
  text(): string;
  /** Everything received, once the other side has ended the connection. */
  readonly ended: Promise<string>;
}

function open({ url }: HttpServer, text: string): Connection {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  let received = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    received += chunk;
  });
  socket.on('error', () => {});
  const ended = new Promise<string>((resolve) => socket.once('close', () => resolve(received)));
  socket.write(text);
  return { socket, text: () => received, ended };
}

const loginHead = (length: number) =>
  `POST /v21/users/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

const importHead = () =>
  [
    'POST /v21/warehouse/events/import HTTP/1.1',
    'Host: x',
    'Content-Type: application/x-ndjson',
    `x-api-key: ${api.eshop.apiKey}`,
    `authorization: ${api.eshop.warehouse.token}`,
    'Transfer-Encoding: chunked',
    '\r\n',
  ].join('\r\n');

function expectErrorResponse(answer: string, status: number, phrase: string): void {
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} ${phrase}\r\n`));
  expect(JSON.parse(body)).toEqual({
    statusCode: status,
    error: phrase,
    message: expect.stringMatching(/./),
  });
}

describe('slow requests', () => {
  test('a request whose body arrives too slowly gets 408', async () => {
    const uploads = Array.from({ length: 20 }, () => loginHead(1000));
    const running = await listening({ uploadMs: 200 });
    const answers = await Promise.all(uploads.map((head) => open(running, `${head}{"username":`).ended));
    for (const answer of answers) expectErrorResponse(answer, 408, 'Request Timeout');
  });

  test('a request whose head arrives too slowly gets 408', async () => {
    const { ended } = open(
      await listening({ headMs: 200 }),
      'POST /v21/users/login HTTP/1.1\r\nHost: x\r\nX-',
    );
    expectErrorResponse(await ended, 408, 'Request Timeout');
  });

  test('an import has no time limit', async () => {
    const running = await listening({ uploadMs: 200 });
    const patient = open(running, importHead());
    patient.socket.write('2\r\nx\n\r\n');
    await until('the first result', async () => patient.text().includes('"line":1,'));
    // Begun later and already over: the time limit of other requests has passed.
    expectErrorResponse(await open(running, loginHead(1000)).ended, 408, 'Request Timeout');
    patient.socket.write('2\r\ny\n\r\n0\r\n\r\n');
    await until('the last result', async () => patient.text().includes('"line":2,'));
    patient.socket.destroy();
  });
});

describe('large logins', () => {
  const credentials = (size: number) => {
    const { username, password } = api.eshop.shop;
    return JSON.stringify({ username, password }).padEnd(size, ' ');
  };
  const login = (url: string, body: string) =>
    fetch(`${url}/v21/users/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': api.eshop.apiKey },
      body,
    });

  test('a login of more than 16 KiB gets 413', async () => {
    const { url } = await listening();
    expect((await login(url, credentials(16 * 1024))).status).toBe(200);
    const answer = await login(url, credentials(16 * 1024 + 1));
    expect(await answer.json()).toEqual({
      statusCode: 413,
      error: 'Content Too Large',
      message: 'The body is larger than 16 KiB.',
    });
  });

  test('a login without a length gets 411, unread', async () => {
    const { ended } = open(
      await listening(),
      'POST /v21/users/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    const answer = await ended;
    expectErrorResponse(answer, 411, 'Length Required');
    expect(answer).toMatch(/\r\nconnection: close\r\n/i);
  });
});

describe('chunked bodies', () => {
  const head = () =>
    [
      'PUT /v21/products/PIECES HTTP/1.1',
      'Host: x',
      'Content-Type: application/json',
      `x-api-key: ${api.eshop.apiKey}`,
      `authorization: ${api.eshop.shop.token}`,
      'Transfer-Encoding: chunked',
      '\r\n',
    ].join('\r\n');
  const chunks = (text: string, size: number) =>
    Array.from({ length: Math.ceil(text.length / size) }, (_, index) => {
      const piece = text.slice(index * size, (index + 1) * size);
      return `${piece.length.toString(16)}\r\n${piece}\r\n`;
    }).join('');

  test('a body of too many tiny chunks is refused while it arrives', async () => {
    // The body never ends: the answer comes first.
    const { ended } = open(await listening(), head() + chunks(' '.repeat(1000), 1));
    const answer = await ended;
    expectErrorResponse(answer, 400, 'Bad Request');
    expect(answer).toContain('too many tiny chunks');
    expect(answer).toMatch(/\r\nconnection: close\r\n/i);
  });

  test.each([
    ['a few small chunks', 60, 1],
    ['many chunks of usual size', 500_000, 100],
  ])('a body of %s is accepted', async (_what, length, size) => {
    const text = JSON.stringify({ name: 'P' }).padEnd(length, ' ');
    const connection = open(await listening(), `${head()}${chunks(text, size)}0\r\n\r\n`);
    await until('the answer', async () => connection.text().includes('"statusCode"'));
    // The body was read, and there is no such product.
    expect(connection.text()).toMatch(/^HTTP\/1.1 404 /);
    connection.socket.destroy();
  });
});

test('a body without a token is not read: 401 comes before 413', async () => {
  const answer = await api.anonymous('POST', '/v21/orders', 'x'.repeat(2 * 1024 * 1024));
  expect(answer.status).toBe(401);
});

test.each([
  ['known', 'Content-Length: 1000', '{"a":'],
  ['unknown', 'Transfer-Encoding: chunked', '5\r\n{"a":\r\n'],
])('an aborted upload of %s length logs one line, and no error', async (_what, framing, part) => {
  const head = [
    'POST /v21/orders HTTP/1.1',
    'Host: x',
    'Content-Type: application/json',
    `x-api-key: ${api.eshop.apiKey}`,
    `authorization: ${api.eshop.shop.token}`,
    'Expect: 100-continue',
    framing,
    '\r\n',
  ].join('\r\n');
  const { socket, text } = open(await listening(), head);
  await until('the request to be taken', async () => text().includes('100 Continue'));
  socket.end(part, () => socket.destroy());
  const lines = () => logged.filter(({ route }) => route === '/v21/orders');
  await until('the line', async () => lines().length > 0);
  expect(lines()).toHaveLength(1);
  expect(lines()[0]).toMatchObject({ level: pino.levels.values.info, status: 400 });
  expect(JSON.stringify(logged)).not.toContain('stack');
});

describe('requests that Node itself refuses', () => {
  test.each([
    ['an unknown method', 'FOO / HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'Bad Request'],
    ['a missing host', 'GET /healthz HTTP/1.1\r\n\r\n', 400, 'Bad Request'],
    ['a second host', 'GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n', 400, 'Bad Request'],
    [
      'a second length',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
      400,
      'Bad Request',
    ],
    ['an invalid length', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n', 400, 'Bad Request'],
    [
      'an oversized header',
      `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
      'Request Header Fields Too Large',
    ],
  ] as const)('%s gets the error body', async (_what, request, status, phrase) => {
    expectErrorResponse(await open(await listening(), request).ended, status, phrase);
  });

  test.each([
    ['a request for a tunnel', 'CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n\r\n', 501, 'Not Implemented'],
    [
      'an unknown expectation',
      'POST / HTTP/1.1\r\nHost: x\r\nExpect: more\r\nContent-Length: 2\r\n\r\nab',
      417,
      'Expectation Failed',
    ],
  ] as const)('%s gets the error body', async (_what, request, status, phrase) => {
    const { socket, ended } = open(await listening(), request);
    socket.end();
    expectErrorResponse(await ended, status, phrase);
  });

  test('a response under way is cut off if the rest of its request is malformed', async () => {
    const { socket, text, ended } = open(await listening(), `${importHead()}2\r\nx\n\r\n`);
    await until('the first result', async () => text().includes('"line":1,'));
    socket.write('no chunk\r\n');
    expect(await ended).not.toContain('HTTP/1.1 400');
  });

  test('an invalid host gets the error body', async () => {
    const { ended } = open(await listening(), 'GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n');
    expect(await ended).toMatch(/^HTTP\/1.1 400 Bad Request\r\n[\s\S]*"statusCode":400/);
  });
});

test('every response forbids sniffing its type and caching it', async () => {
  for (const answer of [
    await api.shop('GET', '/v21/webhooks'),
    await api.shop('GET', '/v2/orders'),
    await api.shop('GET', '/v21/orders/none'),
    await api.anonymous('GET', '/v21/orders'),
    await api.anonymous('GET', '/none'),
    await api.anonymous('GET', '/healthz'),
    await api.anonymous('GET', '/docs'),
    await api.warehouse('POST', '/v21/warehouse/events/import', 'x', {
      'content-type': 'application/x-ndjson',
    }),
  ]) {
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('cache-control')).toBe('no-store');
  }
});

test('the documentation has a strict content security policy, no inline script, and no frame', async () => {
  const { headers, text } = await api.anonymous('GET', '/docs/');
  const directives = Object.fromEntries(
    (headers.get('content-security-policy') ?? '')
      .split(/; */)
      .filter((each) => each !== '')
      .map((each) => [each.split(' ')[0] ?? '', each.split(' ').slice(1).join(' ')]),
  );
  expect(directives).toEqual({
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'img-src': "'self'",
    'connect-src': "'self'",
    'form-action': "'self'",
    'base-uri': "'none'",
    'frame-ancestors': "'none'",
  });
  expect(headers.get('x-frame-options')).toBe('DENY');
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  // The page works within this policy: it contains no inline script, style or handler.
  expect(text).not.toMatch(/<(?:style|iframe|object|embed)\b| style=| on[a-z]+=/i);
  expect([...text.matchAll(/<script[^>]*>([^<]*)/g)].map(([, inside]) => inside)).toEqual(['']);
  for (const [, address] of text.matchAll(/(?:src|rel="stylesheet" href)="([^"]*)"/g)) {
    expect(address).toMatch(/^\.\/assets\//);
  }
});
