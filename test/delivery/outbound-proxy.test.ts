/** Through the operator's proxy (OUTBOUND_PROXY). */
import { describe, expect, onTestFinished, test } from 'vitest';
import type { SenderOptions } from '../../src/delivery/sender.ts';
import { receiverOfTest } from '../support/lifetimes.ts';
import { type HttpProxy, startHttpProxy } from '../support/servers/http-proxy.ts';
import { freePort } from '../support/servers/ports.ts';
import type { ReceiverAnswer } from '../support/servers/receiver.ts';
import { attempt, pem, startNames, startSender } from './support.ts';

const credentials = { user: 'waybill', password: 'p4ss:w%rd' };
const withCredentials = ({ url }: HttpProxy, { user, password } = credentials) =>
  url.replace('//', `//${encodeURIComponent(user)}:${encodeURIComponent(password)}@`);

async function startProxy(...options: Parameters<typeof startHttpProxy>): Promise<HttpProxy> {
  const proxy = await startHttpProxy(...options);
  onTestFinished(() => proxy.close());
  return proxy;
}

async function tlsReceiver(answer: ReceiverAnswer = {}, certificate = 'valid.pem') {
  const tls = { key: await pem('server.key'), cert: await pem(certificate) };
  const receiver = await receiverOfTest(answer, { tls });
  return { receiver, url: `https://localhost:${receiver.port}` };
}
async function senderThrough(proxyUrl: string, options: Partial<SenderOptions> = {}) {
  return startSender({ ca: await pem('ca.pem'), proxyUrl, ...options });
}

test('http and https requests arrive as without the proxy', async () => {
  const proxy = await startProxy();
  const plain = await receiverOfTest({ status: 202, body: 'thanks' });
  const { receiver, url } = await tlsReceiver({ body: 'thanks' });
  const sender = await senderThrough(proxy.url);
  const results = [
    await sender.send(attempt(`http://localhost:${plain.port}`)),
    await sender.send(attempt(url)),
  ];
  expect(results).toMatchObject([
    { outcome: 'success', status: 202, responseExcerpt: 'thanks' },
    { outcome: 'success', status: 200, responseExcerpt: 'thanks' },
  ]);
  const direct = startSender({ ca: await pem('ca.pem') });
  await direct.send(attempt(`http://localhost:${plain.port}`));
  const [through, without] = plain.requests;
  expect(through?.path).toBe(without?.path);
  expect(through?.text).toBe(without?.text);
  expect(through?.headers.host).toBe(without?.headers.host);
  for (const name of Object.keys(receiver.requests[0]?.headers ?? {}))
    expect(through?.headers, name).toHaveProperty(name);
  expect(through?.headers).not.toHaveProperty('proxy-authorization');
  expect(await sender.certificateEnd({ eshopId: 1, url })).toEqual(new Date('2120-02-01T00:00:00Z'));
});

test('the certificate of the receiver is checked in the tunnel', async () => {
  const proxy = await startProxy();
  const sender = await senderThrough(proxy.url);
  for (const [certificate, problem] of [
    ['expired.pem', 'has expired'],
    ['other-name.pem', 'does not match its host name'],
    ['self-signed.pem', 'is self-signed'],
  ] as const) {
    const { receiver, url } = await tlsReceiver({}, certificate);
    expect(await sender.send(attempt(url))).toMatchObject({
      outcome: 'failure',
      error: `TLS certificate of localhost:${receiver.port} ${problem}`,
    });
    expect(receiver.requests).toHaveLength(0);
  }
});

test('the right credentials pass the proxy; missing or wrong ones are an internal failure', async () => {
  const proxy = await startProxy({ credentials });
  const { receiver, url } = await tlsReceiver();
  const plain = await receiverOfTest();
  const known = await senderThrough(withCredentials(proxy));
  expect(await known.send(attempt(url))).toMatchObject({ outcome: 'success' });
  expect(await known.send(attempt(plain.url))).toMatchObject({ outcome: 'success' });
  for (const { headers } of [...receiver.requests, ...plain.requests])
    expect(headers).not.toHaveProperty('proxy-authorization');
  for (const proxyUrl of [proxy.url, withCredentials(proxy, { user: 'waybill', password: 'wrong' })]) {
    const result = await (await senderThrough(proxyUrl)).send(attempt(url));
    expect(result).toMatchObject({ outcome: 'internal', status: null });
    expect(result.error).toMatch(/^no connection to localhost:\d+: our proxy refused it \(HTTP 407\)$/);
  }
  expect(receiver.requests).toHaveLength(1);
});

test('a receiver that the proxy cannot reach is a failure of the receiver', async () => {
  const proxy = await startProxy();
  const sender = await senderThrough(proxy.url, { connectTimeoutMs: 30_000 });
  const port = await freePort();
  const result = await sender.send(attempt(`https://localhost:${port}`));
  expect(result).toMatchObject({ outcome: 'failure', status: null });
  expect(result.error).toMatch(
    /^no connection to localhost:\d+: our proxy could not make one \(HTTP 50[0-4]\)$/,
  );
  const answered = await sender.send(attempt(`http://localhost:${port}`));
  expect(answered).toMatchObject({ outcome: 'failure', status: expect.any(Number) });
});

describe('attribution of failures', () => {
  test.each([
    [403, 'internal', 'refused it (HTTP 403)'],
    [407, 'internal', 'refused it (HTTP 407)'],
    [429, 'internal', 'refused it (HTTP 429)'],
    [500, 'failure', 'could not make one (HTTP 500)'],
    [502, 'failure', 'could not make one (HTTP 502)'],
    [503, 'failure', 'could not make one (HTTP 503)'],
    [504, 'failure', 'could not make one (HTTP 504)'],
    ['close', 'internal', 'closed the connection without an answer'],
  ] as const)('the answer %s to CONNECT has the outcome %s', async (answer, outcome, message) => {
    const proxy = await startProxy();
    proxy.answer(answer);
    expect(await (await senderThrough(proxy.url)).send(attempt('https://127.0.0.1:8443'))).toMatchObject({
      outcome,
      status: null,
      error: `no connection to 127.0.0.1:8443: our proxy ${message}`,
    });
    expect(proxy.heads).toEqual(['CONNECT 127.0.0.1:8443']);
  });

  test('no answer to CONNECT is a failure of the receiver, for whom the proxy waits', async () => {
    const proxy = await startProxy();
    proxy.answer('hang');
    const sender = await senderThrough(proxy.url, { connectTimeoutMs: 300 });
    expect(await sender.send(attempt('https://127.0.0.1:8443'))).toMatchObject({
      outcome: 'failure',
      error: 'no connection to 127.0.0.1:8443 within 300 ms',
    });
  });

  test.each([403, 407, 502, 503])('the status %i over http is the receiver’s', async (status) => {
    const proxy = await startProxy();
    proxy.answer(status);
    expect(await (await senderThrough(proxy.url)).send(attempt('http://127.0.0.1:8080'))).toMatchObject({
      outcome: 'failure',
      status,
    });
  });

  test.each(['http', 'https'])('an unavailable proxy is an internal failure, for %s', async (scheme) => {
    const sender = await senderThrough(`http://waybill:secret@127.0.0.1:${await freePort()}`);
    const result = await sender.send(attempt(`${scheme}://127.0.0.1:8443`));
    expect(result).toMatchObject({
      outcome: 'internal',
      error: 'no connection to 127.0.0.1:8443: our proxy cannot be reached (ECONNREFUSED)',
    });
  });

  test('a proxy with an unknown name is an internal failure', async () => {
    const result = await (await senderThrough('http://proxy.invalid:3128')).send(
      attempt('https://127.0.0.1:1'),
    );
    expect(result).toMatchObject({ outcome: 'internal' });
    expect(result.error).toMatch(/our proxy cannot be reached/);
  });
});

test('an https proxy is used over TLS, and its certificate is checked', async () => {
  const tls = { key: await pem('server.key'), cert: await pem('valid.pem') };
  const proxy = await startProxy({ tls, credentials });
  const { url } = await tlsReceiver();
  const plain = await receiverOfTest();
  const proxyUrl = withCredentials(proxy).replace('127.0.0.1', 'localhost');
  const sender = await senderThrough(proxyUrl);
  expect(await sender.send(attempt(url))).toMatchObject({ outcome: 'success' });
  expect(await sender.send(attempt(plain.url))).toMatchObject({ outcome: 'success' });
  expect(await startSender({ proxyUrl }).send(attempt(url))).toMatchObject({
    outcome: 'internal',
    error: expect.stringMatching(/our proxy cannot be reached \(.*CERT|VERIFY/),
  });
});

test('ten attempts to each receiver use one connection and one tunnel', async () => {
  const proxy = await startProxy();
  const plain = await receiverOfTest();
  const { receiver, url } = await tlsReceiver();
  const sender = await senderThrough(proxy.url);
  for (let i = 0; i < 10; i += 1) {
    expect((await sender.send(attempt(url))).outcome).toBe('success');
    expect((await sender.send(attempt(plain.url))).outcome).toBe('success');
  }
  expect(receiver.connections).toBe(1);
  expect(proxy.heads.filter((head) => head.startsWith('CONNECT'))).toHaveLength(1);
  expect(proxy.connections).toBe(2);
});

test('requests over http forbid caches, unless the webhook sets its own header', async () => {
  const proxy = await startProxy({ credentials });
  const receiver = await receiverOfTest();
  const sender = await senderThrough(withCredentials(proxy));
  await sender.send(attempt(receiver.url, { method: 'GET' }));
  expect(receiver.requests.at(-1)?.headers['cache-control']).toBe('no-cache, no-store');
  await sender.send(attempt(receiver.url, { staticHeaders: { 'Cache-Control': 'max-age=0' } }));
  expect(receiver.requests.at(-1)?.headers['cache-control']).toBe('max-age=0');
});

describe('the guard', () => {
  const strict = { allowCidrs: [] };

  test('literal addresses and local names are refused, unknown to the proxy', async () => {
    const proxy = await startProxy();
    const sender = await senderThrough(proxy.url, strict);
    for (const host of ['10.0.0.5', '[::1]', '169.254.169.254', 'localhost', 'a.localhost.'])
      for (const scheme of ['http', 'https'])
        expect(await sender.send(attempt(`${scheme}://${host}`)), host).toMatchObject({
          outcome: 'failure',
          error: expect.stringMatching(/^destination .* is in a|^the address of .* is not allowed$/),
        });
    expect(proxy.connections).toBe(0);
  });

  test('every address of a known name is checked, since the proxy may use any', async () => {
    const dns = await startNames({
      'both.example': ['8.8.8.8', '10.0.0.5'],
      'public.example': ['8.8.8.8'],
    });
    const receiver = await receiverOfTest();
    const names = { 'public.example': '127.0.0.1' };
    const proxy = await startProxy({ names });
    const sender = await senderThrough(proxy.url, { ...strict, dnsServers: [dns.address] });
    expect(await sender.send(attempt('http://both.example'))).toMatchObject({
      outcome: 'failure',
      error: 'the address of both.example is not allowed',
    });
    expect(proxy.connections).toBe(0);
    expect(await sender.send(attempt(`http://public.example:${receiver.port}`))).toMatchObject({
      outcome: 'success',
    });
  });

  test.each(['nxdomain', 'refused', 'silent'] as const)(
    'a name that our resolver answers with %s is left to the proxy',
    async (answer) => {
      const dns = await startNames({ 'shop.example': answer });
      const receiver = await receiverOfTest();
      const proxy = await startProxy({ names: { 'shop.example': '127.0.0.1' } });
      const sender = await senderThrough(proxy.url, { ...strict, dnsServers: [dns.address] });
      expect(await sender.send(attempt(`http://shop.example:${receiver.port}`))).toMatchObject({
        outcome: 'success',
      });
    },
  );

  test('a full queue of lookups lets no name pass', async () => {
    const silent = Array.from({ length: 40 }, (_, i) => `n${i}.example`);
    const dns = await startNames({
      ...Object.fromEntries(silent.map((name) => [name, 'silent'] as const)),
      'inner.example': ['10.0.0.5'],
    });
    const proxy = await startProxy({ names: { 'inner.example': '127.0.0.1' } });
    const sender = await senderThrough(proxy.url, {
      ...strict,
      dnsServers: [dns.address],
      timeoutMs: 10_000,
      connectTimeoutMs: 5_000,
    });
    const many = silent.map((name) => sender.send(attempt(`http://${name}`)));
    const result = await sender.send(attempt(`http://inner.example`));
    expect(result).toMatchObject({ outcome: 'internal', lookupsFull: true });
    expect(proxy.heads.filter((head) => head.includes('inner.example'))).toEqual([]);
    await Promise.all(many);
  });
});
