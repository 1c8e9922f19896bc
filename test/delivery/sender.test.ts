import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { errors } from 'undici';
import { describe, expect, test, vi } from 'vitest';
import { createOwnEndpoints } from '../../src/delivery/own-endpoints.ts';
import { receiverOfTest } from '../support/lifetimes.ts';
import type { ReceiverAnswer } from '../support/servers/receiver.ts';
import { standStill } from '../support/stand-still.ts';
import { attempt, PATH, startNames, startSender, startTcpServer } from './support.ts';

describe('requests', () => {
  test('a POST carries the body, byte for byte, as JSON', async () => {
    const receiver = await receiverOfTest({ body: 'thanks' });

    const result = await startSender().send(attempt(receiver.url));

    expect(result).toMatchObject({ outcome: 'success', status: 200, error: null, responseExcerpt: 'thanks' });
    const [request] = receiver.requests;
    expect(request).toMatchObject({ method: 'POST', path: PATH, text: '{"note":"kůň"}' });
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': '16',
      'user-agent': 'Waybill/1.2.3',
      'accept-encoding': 'identity',
      'x-service-attempt': '1',
      'x-service-event': 'CREATE_ORDER',
    });
  });

  test('a GET has the identifier at the end of its URL, and no body', async () => {
    const receiver = await receiverOfTest();

    await startSender().send(attempt(receiver.url, { method: 'GET', body: null }));

    const [request] = receiver.requests;
    expect(request).toMatchObject({ method: 'GET', path: `${PATH}%C5%BE%201%2F2`, text: '' });
    expect(request?.headers).not.toHaveProperty('content-type');
    expect(request?.headers).not.toHaveProperty('content-length');
  });

  test('any 2xx is a success', async () => {
    const receiver = await receiverOfTest();
    const sender = startSender();

    for (const status of [200, 201, 202, 204, 299]) {
      receiver.respond({ status });
      expect(await sender.send(attempt(receiver.url))).toMatchObject({ outcome: 'success', status });
    }
  });

  test('a 103 is not the response: the next one is, or the attempt times out', async () => {
    let last = 'HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n';
    const host = await startTcpServer((socket) =>
      socket.once('data', () => {
        socket.write('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n');
        setTimeout(() => socket.write(last), 20);
      }),
    );
    expect(await startSender().send(attempt(`http://${host}`))).toMatchObject({
      outcome: 'failure',
      status: 500,
    });
    last = '';
    expect(await startSender({ timeoutMs: 250 }).send(attempt(`http://${host}`))).toMatchObject({
      status: null,
      error: `no response from ${host} within 250 ms`,
    });
  });
});

describe('informational responses', () => {
  const early = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n';

  test('ten of them are accepted', async () => {
    const host = await startTcpServer((socket) =>
      socket.once('data', () => socket.write(`${early.repeat(10)}HTTP/1.1 204 Yes\r\n\r\n`)),
    );

    expect(await startSender().send(attempt(`http://${host}`))).toMatchObject({ outcome: 'success' });
  });

  test('an unrequested 100 Continue is accepted, and the connection is kept', async () => {
    let connections = 0;
    const host = await startTcpServer((socket) => {
      connections += 1;
      socket.on('data', (chunk) => {
        if (!chunk.toString().endsWith('}')) return;
        socket.write('HTTP/1.1 100 Continue\r\n\r\n');
        setTimeout(() => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nthanks'), 20);
      });
    });
    const sender = startSender();

    const yes = { outcome: 'success', status: 200, responseExcerpt: 'thanks' };
    expect(await sender.send(attempt(`http://${host}`))).toMatchObject(yes);
    await new Promise(setImmediate);
    expect(await sender.send(attempt(`http://${host}`))).toMatchObject(yes);
    expect(connections).toBe(1);
  });

  test.each([
    ['', 'Connection: Upgrade\r\nUpgrade: websocket\r\n'],
    [' without an Upgrade header', ''],
  ])('a 101%s is reported as a switch of protocols', async (_, headers) => {
    const host = await startTcpServer((socket) =>
      socket.once('data', () => socket.write(`HTTP/1.1 101 Switching Protocols\r\n${headers}\r\n`)),
    );

    expect(await startSender().send(attempt(`http://${host}`))).toMatchObject({
      outcome: 'failure',
      status: null,
      error: `${host} switched protocols (HTTP 101) instead of responding`,
    });
  });

  test('the eleventh ends the attempt, whatever follows', async () => {
    const host = await startTcpServer((socket) =>
      socket.once('data', () => socket.write(`${early.repeat(11)}HTTP/1.1 204 Yes\r\n\r\n`)),
    );

    expect(await startSender().send(attempt(`http://${host}`))).toMatchObject({
      outcome: 'failure',
      status: null,
      error: `${host} sent more than 10 informational responses (HTTP 1xx) and no final one`,
    });
  });

  test('an endless stream of them is cut off, and no more is read', async () => {
    let sent = 0;
    let cut: (sent: number) => void = () => {};
    const cutAfter = new Promise<number>((resolve) => {
      cut = resolve;
    });
    const host = await startTcpServer((socket) => {
      socket.on('close', () => cut(sent));
      socket.once('data', () => {
        const pump = () => {
          while (!socket.destroyed) {
            sent += 100;
            if (!socket.write(early.repeat(100))) return;
          }
        };
        socket.on('drain', pump);
        pump();
      });
    });

    const result = await startSender({ timeoutMs: 20_000 }).send(attempt(`http://${host}`));

    expect(result.error).toContain('more than 10 informational responses');
    // No more than fits into the buffers on the way: a few megabytes of some 40 bytes each.
    expect(await cutAfter).toBeLessThan(1_000_000);
  });
});

describe('stalls of the process', () => {
  test('a response that arrived in time is read, even if the stall outlasts the time-out', async () => {
    const worker = new Worker(
      `const { parentPort } = require('node:worker_threads');
       const server = require('node:http').createServer((request, response) => {
         parentPort.postMessage('arrived');
         setTimeout(() => response.end('in time'), 150);
       });
       server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`,
      { eval: true },
    );
    try {
      const [port] = await once(worker, 'message');
      const arrived = once(worker, 'message');
      const sent = startSender({ timeoutMs: 3_000 }).send(attempt(`http://127.0.0.1:${port}`));
      await arrived;
      // After this the event loop runs its timers before it reads from sockets.
      await new Promise(setImmediate);
      standStill(3_500);

      expect(await sent).toMatchObject({ outcome: 'success', responseExcerpt: 'in time' });
    } finally {
      await worker.terminate();
    }
  });

  test('a stall before the request was sent is an internal failure', async () => {
    const receiver = await receiverOfTest();
    // To look up a name takes several rounds of the event loop.
    const { address } = await startNames({ 'here.example': ['127.0.0.1'] });
    const sender = startSender({ timeoutMs: 1_000, dnsServers: [address] });
    const sent = sender.send(attempt(`http://here.example:${receiver.port}`));
    standStill(1_500);

    expect(await sent).toMatchObject({
      outcome: 'internal',
      error: expect.stringMatching(/^this process was stalled for [\d.]+ m?s while calling /),
    });
    expect(receiver.requests).toHaveLength(0);
  });

  test('a stall before the request was sent adds no more than its duration to the time-out', async () => {
    const { address } = await startNames({ 'mute.example': 'silent' });
    const sender = startSender({ timeoutMs: 1_000, connectTimeoutMs: 60_000, dnsServers: [address] });
    const sent = sender.send(attempt('http://mute.example'));
    standStill(2_300);

    expect(await sent).toMatchObject({
      outcome: 'failure',
      error: 'no response from mute.example within 1 s',
    });
  });

  test('a long stall is an internal failure', async () => {
    const receiver = await receiverOfTest({ hang: 'headers' });
    const sent = startSender({ timeoutMs: 2_000 }).send(attempt(receiver.url));
    await receiver.waitFor(1);
    standStill(5_000);

    expect(await sent).toMatchObject({
      outcome: 'internal',
      error: expect.stringMatching(/^this process was stalled for [\d.]+ s while calling /),
    });
  });
});

describe('the guard', () => {
  test('own ports are never called, exempt or not, by address or by name; other ports are', async () => {
    const [mine, other] = await Promise.all([receiverOfTest(), receiverOfTest()]);
    const dns = await startNames({ 'here.example': ['127.0.0.1'] });
    const own = createOwnEndpoints();
    own.add('127.0.0.1', mine.port);
    const sender = startSender({ own, dnsServers: [dns.address] });
    const called = async (host: string) => (await sender.send(attempt(`http://${host}`))).error;

    expect(await called(`127.0.0.1:${mine.port}`)).toBe(
      'destination 127.0.0.1 belongs to this service on that port',
    );
    expect(await called(`localhost:${mine.port}`)).toBe(
      'destination localhost belongs to this service on that port',
    );
    expect(await called(`here.example:${mine.port}`)).toBe(
      `the address of here.example:${mine.port} is not allowed`,
    );
    for (const host of ['127.0.0.1', 'localhost', 'here.example']) {
      expect(await called(`${host}:${other.port}`)).toBeNull();
    }
    expect([mine.connections, other.requests.length]).toEqual([0, 3]);
  });
});

describe('responses', () => {
  test('an error status is a failure, and the beginning of its body is kept', async () => {
    const receiver = await receiverOfTest({ status: 503, body: Buffer.from([0x6e, 0x6f, 0x00, 0xff]) });

    const result = await startSender().send(attempt(receiver.url));

    expect(result).toMatchObject({ outcome: 'failure', status: 503, retryAfterMs: null });
    expect(result.error).toBe(`HTTP 503 from 127.0.0.1:${receiver.port} after ${result.durationMs} ms`);
    expect(result.responseExcerpt).toBe('no\ufffd\ufffd');
  });

  const czech = '{"chyba": "příliš žluťoučký kůň"}';
  const long = Buffer.from(czech.repeat(400));
  test.each<[string, string, Buffer, string]>([
    ['gzip', 'application/json', gzipSync(czech), czech],
    ['x-gzip', '', gzipSync(long), long.toString().slice(0, 750)],
    ['deflate', '', deflateSync(czech), czech],
    ['deflate', '', deflateRawSync(czech), czech],
    ['br', '', brotliCompressSync(czech), czech],
    // Cut off in the middle: the excerpt is all that has arrived.
    ['gzip', '', gzipSync(randomBytes(3_000).toString('hex')).subarray(0, 2_000), ''],
    // A hundred megabytes when decompressed.
    ['gzip', '', gzipSync(Buffer.alloc(100_000_000, '.')), '.'.repeat(1024)],
    ['gzip', '', Buffer.from('not compressed at all'), 'not compressed at all'],
    ['identity', 'text/plain; charset=windows-1250', Buffer.from([0x9e, 0x6c, 0x75, 0x9d]), 'žluť'],
    ['', 'text/html;charset="UTF-16LE"', Buffer.from('kůň', 'utf16le'), 'kůň'],
    ['gzip', 'text/plain; charset=iso-8859-2', gzipSync(Buffer.from([0xbe, 0x6c])), 'žl'],
    ['', 'text/plain; charset=nobody-knows', Buffer.from('kůň'), 'kůň'],
  ])('a body compressed with %j, of type %j, is kept as text', async (encoding, type, body, text) => {
    const headers = {
      ...(encoding && { 'content-encoding': encoding }),
      ...(type && { 'content-type': type }),
    };
    const receiver = await receiverOfTest({ status: 500, headers, body });
    const { responseExcerpt } = await startSender().send(attempt(receiver.url));
    expect(receiver.requests[0]?.headers['accept-encoding']).toBe('identity');
    if (text === '') expect(responseExcerpt).toMatch(/^[0-9a-f]{1024}$/);
    else if (text.length < 700) expect(responseExcerpt).toBe(text);
    else {
      expect(responseExcerpt?.startsWith(text)).toBe(true);
      expect(Buffer.byteLength(responseExcerpt ?? '')).toBeLessThanOrEqual(1024);
    }
  });

  test('an echoed static header is masked even in a compressed body', async () => {
    const receiver = await receiverOfTest({
      status: 500,
      headers: { 'content-encoding': 'gzip' },
      body: gzipSync('You sent: their-gateway-key'),
    });
    const request = { ...attempt(receiver.url), staticHeaders: { 'X-Gateway-Key': 'their-gateway-key' } };
    const { responseExcerpt } = await startSender().send(request);
    expect(responseExcerpt).toMatch(/^You sent: /);
    expect(responseExcerpt).not.toContain('their-gateway-key');
  });

  test('a 410 means that the webhook is gone', async () => {
    const receiver = await receiverOfTest({ status: 410 });

    expect(await startSender().send(attempt(receiver.url))).toMatchObject({ outcome: 'gone', status: 410 });
  });

  test.each([301, 302, 303, 307, 308])('a redirect (%d) is a failure and is not followed', async (status) => {
    const elsewhere = await receiverOfTest();
    const receiver = await receiverOfTest({ status, headers: { location: `${elsewhere.url}/other` } });

    const result = await startSender().send(attempt(receiver.url));

    expect(result).toMatchObject({
      outcome: 'failure',
      status,
      error: `redirect (HTTP ${status}) from 127.0.0.1:${receiver.port}: redirects are not followed`,
    });
    expect(elsewhere.requests).toHaveLength(0);
  });

  test('Retry-After counts only with 429 and 503', async () => {
    const receiver = await receiverOfTest();
    const sender = startSender();
    const asked = async (status: number, value: string) => {
      receiver.respond({ status, headers: { 'retry-after': value } });
      return (await sender.send(attempt(receiver.url))).retryAfterMs;
    };

    expect(await asked(429, '120')).toBe(120_000);
    expect(await asked(503, '7')).toBe(7_000);
    expect(await asked(500, '7')).toBeNull();
    const date = await asked(503, new Date(Date.now() + 60_000).toUTCString());
    expect(date).toBeGreaterThan(50_000);
    expect(date).toBeLessThanOrEqual(60_000);
  });
});

describe('slow and large responses', () => {
  test('a missing response is a failure after the time-out', async () => {
    const receiver = await receiverOfTest({ hang: 'headers' });

    const result = await startSender({ timeoutMs: 250 }).send(attempt(receiver.url));

    expect(result).toMatchObject({ outcome: 'failure', status: null });
    expect(result.error).toBe(`no response from 127.0.0.1:${receiver.port} within 250 ms`);
    expect(result.durationMs).toBeGreaterThanOrEqual(245);
  });

  test('a missing response is a failure after the shorter time-out of the attempt itself', async () => {
    const { url, port } = await receiverOfTest({ hang: 'headers' });
    const { error } = await startSender({ timeoutMs: 30_000 }).send({ ...attempt(url), timeoutMs: 250 });
    expect(error).toBe(`no response from 127.0.0.1:${port} within 250 ms`);
  });

  test('a body that stalls after a 2xx is still a success', async () => {
    const receiver = await receiverOfTest({ hang: 'body', body: 'so far' });

    // The body has less time than the rest.
    const result = await startSender({ timeoutMs: 30_000 }).send(attempt(receiver.url));

    expect(result).toMatchObject({ outcome: 'success', status: 200, responseExcerpt: 'so far' });
  });

  test('a connection that is cut in the body of a 2xx is still a success', async () => {
    const host = await startTcpServer((socket) =>
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf');
        setTimeout(() => socket.resetAndDestroy(), 20);
      }),
    );

    expect(await startSender().send(attempt(`http://${host}`))).toMatchObject({
      outcome: 'success',
      responseExcerpt: 'half',
    });
  });

  test.each([
    ['endless', { endless: true, body: 'x'.repeat(4_096) }],
    ['20 MiB long', { body: Buffer.alloc(20 * 1024 * 1024, 'x') }],
  ])('a body that is %s is read only at its beginning, and its connection is closed', async (_, answer) => {
    const receiver = await receiverOfTest(answer);
    const sender = startSender({ timeoutMs: 10_000 });

    // No time-out ever fires: only the length ends the reading.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const sent = sender.send(attempt(receiver.url));
    const result = await sent.finally(() => vi.useRealTimers());

    expect(result).toMatchObject({ outcome: 'success', responseExcerpt: 'x'.repeat(1024) });
    receiver.respond({});
    await sender.send(attempt(receiver.url));
    expect(receiver.requests.map(({ connection }) => connection)).toEqual([1, 2]);
  });

  test('endless headers are a failure', async () => {
    const host = await startTcpServer((socket) =>
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\n');
        socket.write(`x-a: ${'a'.repeat(64 * 1024)}\r\n`);
      }),
    );

    expect((await startSender().send(attempt(`http://${host}`))).error).toBe(
      `${host} sent headers that are too large`,
    );
  });

  test('headers of many lines are not read beyond the limit', async () => {
    const host = await startTcpServer((socket) =>
      socket.once('data', () => socket.write(`HTTP/1.1 200 OK\r\n${'x-a: b\r\n'.repeat(8_000)}`)),
    );
    // An error for each line beyond it, with its stack, would occupy the process.
    const made = vi.fn();
    Object.defineProperty(errors.HeadersOverflowError.prototype, 'name', { set: made, configurable: true });
    const result = await startSender().send(attempt(`http://${host}`));
    Reflect.deleteProperty(errors.HeadersOverflowError.prototype, 'name');
    expect(result.error).toBe(`${host} sent headers that are too large`);
    // What is left of a chunk may make one more.
    expect(made.mock.calls.length).toBeLessThan(10);
  });
});

test('no error contains a path, query, identifier or secret', async () => {
  const receiver = await receiverOfTest();
  const sender = startSender({ timeoutMs: 100 });
  const answers: ReceiverAnswer[] = [
    { status: 500 },
    { status: 302, headers: { location: '/geheim' } },
    { status: 410 },
    { reset: true },
    { hang: 'headers' },
  ];
  const messages: (string | null)[] = [];
  for (const answer of answers) {
    receiver.respond(answer);
    messages.push((await sender.send(attempt(receiver.url, { method: 'GET' }))).error);
  }
  for (const url of [
    'http://127.0.0.1:1',
    'http://nobody.invalid',
    'http://10.0.0.5',
    'http://user:geheim@10.0.0.5',
  ]) {
    messages.push((await sender.send(attempt(url))).error);
  }

  expect(messages).toHaveLength(9);
  for (const message of messages) expect(message).not.toMatch(/geheim|secret|token|whsec|%|\?/);
});
