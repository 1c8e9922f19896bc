import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { BlockedDestination, createConnector } from '../../src/delivery/connector.ts';
import { createSender } from '../../src/delivery/sender.ts';
import { receiverOfTest } from '../support/lifetimes.ts';
import { freePort } from '../support/servers/ports.ts';
import { until } from '../support/until.ts';
import { attempt, pem, startNames, startSender, startTcpServer } from './support.ts';

describe('connection errors', () => {
  test('the error says that the connection was refused', async () => {
    const port = await freePort();

    expect(await startSender().send(attempt(`http://127.0.0.1:${port}`))).toMatchObject({
      outcome: 'failure',
      status: null,
      error: `127.0.0.1:${port} refused the connection`,
    });
  });

  test('the error says that the connection was reset', async () => {
    const receiver = await receiverOfTest({ reset: true });

    expect((await startSender().send(attempt(receiver.url))).error).toBe(
      `127.0.0.1:${receiver.port} reset the connection`,
    );
    expect(receiver.requests).toHaveLength(1);
  });

  test('the error says that the connection was closed without a response', async () => {
    const host = await startTcpServer((socket) => socket.once('data', () => socket.end()));

    expect((await startSender().send(attempt(`http://${host}`))).error).toBe(
      `${host} closed the connection without responding`,
    );
  });

  test('the error says that the name has no address', async () => {
    expect(await startSender().send(attempt('http://nobody.invalid'))).toMatchObject({
      outcome: 'failure',
      error: 'nobody.invalid has no address (DNS: ENOTFOUND)',
    });
  });

  test('the error says that the URL is invalid', async () => {
    expect(await startSender().send({ ...attempt(''), url: 'shop' })).toMatchObject({
      outcome: 'failure',
      error: 'the URL of the webhook is not an absolute http or https URL',
    });
  });
});

describe('TLS', () => {
  const errors: readonly (readonly [string, boolean, string])[] = [
    ['expired.pem', true, 'TLS certificate of HOST has expired'],
    ['other-name.pem', true, 'TLS certificate of HOST does not match its host name'],
    [
      'valid.pem',
      false,
      'HOST does not send its intermediate certificate, or its certificate is not from a trusted authority',
    ],
    ['self-signed.pem', false, 'TLS certificate of HOST is self-signed'],
  ];

  test.each(errors)('%s is refused (authority known: %s)', async (name, known, message) => {
    const receiver = await receiverOfTest(
      {},
      { tls: { key: await pem('server.key'), cert: await pem(name) } },
    );
    const sender = startSender(known ? { ca: await pem('ca.pem') } : {});

    const { error } = await sender.send(attempt(`https://localhost:${receiver.port}`));

    expect(error).toBe(message.replace('HOST', `localhost:${receiver.port}`));
    expect(receiver.requests).toHaveLength(0);
  });

  test('a certificate of a known authority for the right name is accepted', async () => {
    const receiver = await receiverOfTest(
      {},
      { tls: { key: await pem('server.key'), cert: await pem('valid.pem') } },
    );

    const result = await startSender({ ca: await pem('ca.pem') }).send(
      attempt(`https://localhost:${receiver.port}`),
    );

    expect(result).toMatchObject({ outcome: 'success', status: 200 });
  });

  test('the end of a certificate can be read, but not at addresses that deliveries avoid', async () => {
    const tls = { key: await pem('server.key'), cert: await pem('valid.pem') };
    const receiver = await receiverOfTest({}, { tls });
    const ca = await pem('ca.pem');
    const ends = (url: string, allowCidrs = ['127.0.0.0/8', '::1/128']) =>
      startSender({ ca, allowCidrs }).certificateEnd({ eshopId: 1, url });
    expect(await ends(`https://localhost:${receiver.port}/hooks`)).toEqual(new Date('2120-02-01T00:00:00Z'));
    expect(await ends(`https://localhost:${receiver.port}/hooks`, [])).toBeNull();
    expect(await ends(`http://localhost:${receiver.port}/hooks`)).toBeNull();
    expect(receiver.requests).toHaveLength(0);
  });

  test('the error says that the receiver does not speak TLS', async () => {
    const receiver = await receiverOfTest();

    const { error } = await startSender().send(attempt(`https://127.0.0.1:${receiver.port}`));

    expect(error).toBe(`127.0.0.1:${receiver.port} does not speak TLS on this port`);
  });
});

describe('private destinations', () => {
  test.each([
    ['http://127.0.0.1:PORT', 'destination 127.0.0.1 is in a loopback range'],
    ['http://2130706433:PORT', 'destination 127.0.0.1 is in a loopback range'],
    ['http://[::ffff:127.0.0.1]:PORT', 'destination ::ffff:7f00:1 is in a loopback range'],
    ['http://10.0.0.5', 'destination 10.0.0.5 is in a private range'],
    ['http://169.254.169.254', 'destination 169.254.169.254 is in a metadata range'],
  ])('%s is refused', async (url, message) => {
    const receiver = await receiverOfTest();
    const sender = startSender({ allowCidrs: [] });

    const result = await sender.send(attempt(url.replace('PORT', String(receiver.port))));

    expect(result).toMatchObject({ outcome: 'failure', status: null, error: message });
    expect(receiver.connections).toBe(0);
  });

  test('a name that resolves to a private address is refused on every attempt', async () => {
    const receiver = await receiverOfTest();
    const sender = startSender({ allowCidrs: [] });

    for (let number = 1; number <= 3; number += 1) {
      const { error } = await sender.send(attempt(`http://localhost:${receiver.port}`, { number }));
      expect(error).toBe(`the address of localhost:${receiver.port} is not allowed`);
    }
    expect(receiver.connections).toBe(0);
  });

  test('an exempt range allows only the exempt addresses of a name', async () => {
    const exempt = await receiverOfTest();
    const other = await receiverOfTest({}, { host: '127.0.0.2', port: exempt.port });
    const dns = await startNames({
      'one.example': ['127.0.0.1', '127.0.0.2'],
      'two.example': ['127.0.0.2', '127.0.0.1'],
      'none.example': ['127.0.0.2'],
    });
    const sender = startSender({ allowCidrs: ['127.0.0.1/32'], dnsServers: [dns.address] });
    const called = async (name: string) =>
      (await sender.send(attempt(`http://${name}:${exempt.port}`))).outcome;

    expect([await called('one.example'), await called('two.example'), await called('none.example')]).toEqual([
      'success',
      'success',
      'failure',
    ]);
    expect(exempt.requests).toHaveLength(2);
    expect(other.connections).toBe(0);
  });
});

describe('the connector', () => {
  test('the address of an open connection is checked again before anything is written', async () => {
    const receiver = await receiverOfTest();
    const judged: string[] = [];
    // Allows the address at its lookup, but not once the connection is open.
    const problemOf = (address: string) => (judged.push(address) === 1 ? null : 'is in a private range');
    const connector = createConnector({
      guard: { problemOf, problemOfHost: problemOf },
      resolve: async () => [],
      timeoutMs: 30_000,
      maxSessionAgeMs: 30_000,
    });

    const error = await new Promise((resolve) =>
      connector({ protocol: 'http:', hostname: '127.0.0.1', port: String(receiver.port) }, (...outcome) =>
        resolve(outcome[0]),
      ),
    );

    expect(error).toBeInstanceOf(BlockedDestination);
    expect(judged).toEqual(['127.0.0.1', '127.0.0.1']);
    expect(receiver.requests).toHaveLength(0);
  });
});

describe('interruption', () => {
  test('an attempt that is interrupted before its response throws', async () => {
    const receiver = await receiverOfTest({ hang: 'headers' });
    const controller = new AbortController();
    const sent = startSender().send(attempt(receiver.url), controller.signal);
    await receiver.waitFor(1);

    controller.abort();

    await expect(sent).rejects.toMatchObject({ name: 'AbortError' });
  });

  test('an attempt that is interrupted before it begins throws, and sends nothing', async () => {
    const receiver = await receiverOfTest();

    await expect(startSender().send(attempt(receiver.url), AbortSignal.abort())).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(receiver.requests).toHaveLength(0);
  });

  test('a response that has arrived is kept', async () => {
    const receiver = await receiverOfTest({ hang: 'body', body: 'yes' });
    const controller = new AbortController();
    const sent = startSender().send(attempt(receiver.url), controller.signal);
    await receiver.waitFor(1);
    setTimeout(() => controller.abort(), 1_000);

    expect(await sent).toMatchObject({ outcome: 'success', responseExcerpt: 'yes' });
  });

  test('closing waits for the attempts under way', async () => {
    const receiver = await receiverOfTest({ delayMs: 150 });
    const sender = createSender({ timeoutMs: 30_000, allowCidrs: ['127.0.0.0/8'], version: '1' });
    const sent = sender.send(attempt(receiver.url));

    await sender.close();

    expect(receiver.requests).toHaveLength(1);
    expect((await sent).outcome).toBe('success');
  });

  test('an attempt that times out before its connection is ready is never sent', async () => {
    const tls = { key: await pem('server.key'), cert: await pem('valid.pem') };
    const receiver = await receiverOfTest({}, { tls });
    // Accepts the connection, but lets the TLS handshake begin only after the end of the attempt.
    let over = false;
    const host = await startTcpServer((socket) => {
      setTimeout(() => {
        const onward = connect(receiver.port, '127.0.0.1');
        onward.on('error', () => {});
        onward.on('close', () => {
          over = true;
        });
        socket.pipe(onward).pipe(socket);
      }, 300);
    });

    const sender = startSender({ timeoutMs: 100, connectTimeoutMs: 5_000, ca: await pem('ca.pem') });
    // On a busy machine this process may be stalled, which is no failure of the receiver: then once more.
    let result = await sender.send(attempt(`https://${host}`));
    while (result.outcome === 'internal') result = await sender.send(attempt(`https://${host}`));
    await until('the end of the connection', async () => over);

    expect(result.error).toBe(`no response from ${host} within 100 ms`);
    expect(receiver.requests).toHaveLength(0);
  });
});

describe('kept connections', () => {
  test('a hundred attempts, ten at a time, use at most a dozen connections', async () => {
    const receiver = await receiverOfTest({ body: '{}' });
    const sender = startSender();

    for (let round = 0; round < 10; round += 1) {
      const results = await Promise.all(Array.from({ length: 10 }, () => sender.send(attempt(receiver.url))));
      expect(results.every(({ outcome }) => outcome === 'success')).toBe(true);
      // A connection becomes free a moment after its response.
      await new Promise(setImmediate);
    }

    expect(receiver.requests).toHaveLength(100);
    expect(receiver.connections).toBeLessThanOrEqual(12);
  });

  test('a connection closed by the receiver while idle does not fail the next attempt', async () => {
    const receiver = await receiverOfTest();
    const sender = startSender();

    for (let round = 0; round < 20; round += 1) {
      expect((await sender.send(attempt(receiver.url))).outcome).toBe('success');
      await receiver.endConnections();
    }

    expect(receiver.connections).toBeGreaterThanOrEqual(20);
  });

  test('a connection with a short announced idle time is given up in time', async () => {
    const receiver = await receiverOfTest({}, { keepAliveTimeoutMs: 1_000 });
    const sender = startSender();

    for (let round = 0; round < 5; round += 1) {
      expect((await sender.send(attempt(receiver.url))).outcome).toBe('success');
    }

    expect(receiver.connections).toBe(5);
  });

  test('a request whose connection is closed is sent once more, on a fresh one', async () => {
    const numbers: unknown[] = [];
    let connections = 0;
    // Answers the first request of a connection, and closes it at the second without a byte.
    const host = await startTcpServer((socket) => {
      connections += 1;
      socket.once('data', (head) => {
        numbers.push(/x-service-attempt: (\d+)/i.exec(head.toString())?.[1]);
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
        socket.once('data', () => socket.destroy());
      });
    });
    const sender = startSender();
    for (let number = 1; number <= 4; number += 1) {
      await new Promise(setImmediate);
      const sent = sender.send(attempt(`http://${host}`, { number }));
      expect(await sent).toMatchObject({ outcome: 'success', status: 200 });
    }
    expect(numbers).toEqual(['1', '2', '3', '4']);
    expect(connections).toBe(4);
  });

  test('an attempt fails if its connection is closed after the response began, or twice', async () => {
    let requests = 0;
    let last = 'HTTP/1.1 2';
    const host = await startTcpServer((socket) =>
      socket.on('data', () => {
        requests += 1;
        if (requests === 1) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
        else socket.end(last);
      }),
    );
    const twoRequests = async () => {
      requests = 0;
      const sender = startSender();
      await sender.send(attempt(`http://${host}`));
      await new Promise(setImmediate);
      const { outcome } = await sender.send(attempt(`http://${host}`, { number: 2 }));
      return { outcome, requests };
    };
    expect(await twoRequests()).toEqual({ outcome: 'failure', requests: 2 });
    last = '';
    expect(await twoRequests()).toEqual({ outcome: 'failure', requests: 3 });
  });

  test('a test event uses a fresh connection', async () => {
    const receiver = await receiverOfTest();
    const sender = startSender();
    for (let number = 1; number <= 3; number += 1) {
      await sender.send(attempt(receiver.url, { test: number > 1 }));
    }
    expect(receiver.connections).toBe(3);
  });
});
