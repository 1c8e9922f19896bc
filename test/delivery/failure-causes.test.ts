/** Why a receiver could not be used, by its cause: TLS, the version of HTTP, a malformed response, a firewall. */
import { createSecureServer } from 'node:http2';
import { createServer, type ServerOptions } from 'node:https';
import type { Server, Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { receiverOfTest } from '../support/lifetimes.ts';
import { listenLocally } from '../support/servers/ports.ts';
import { attempt, pem, startSender, startTcpServer } from './support.ts';

const servers: Server[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise((closed) => server.close(closed))));
});

async function portOf(server: Server): Promise<number> {
  servers.push(server);
  server.on('tlsClientError', () => {});
  return await listenLocally(server);
}

async function errorOfTls(options: ServerOptions, http2Only = false): Promise<string> {
  const tls = { key: await pem('server.key'), cert: await pem('valid.pem'), ...options };
  const server = http2Only ? createSecureServer(tls) : createServer(tls, (_, response) => response.end());
  const port = await portOf(server);
  const { error } = await startSender({ ca: await pem('ca.pem') }).send(attempt(`https://localhost:${port}`));
  return (error ?? 'none').replace(`localhost:${port}`, 'HOST');
}

describe('TLS', () => {
  const clientCertificate = async () => ({ requestCert: true, ca: await pem('ca.pem') });

  test('a required client certificate is named, which TLS 1.3 says after the handshake', async () => {
    expect(await errorOfTls(await clientCertificate())).toBe(
      'HOST requires a client certificate, which Waybill does not have',
    );
  });

  test('a required client certificate is suspected in TLS 1.2', async () => {
    expect(await errorOfTls({ ...(await clientCertificate()), maxVersion: 'TLSv1.2' })).toBe(
      'HOST refused the TLS handshake: no common cipher, or it requires a client certificate',
    );
  });

  test('a TLS version that is too old is named', async () => {
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' } as const;
    expect(await errorOfTls(old)).toBe('HOST only speaks a version of TLS that is too old (1.2 is required)');
  });

  test('a receiver that only speaks HTTP/2 is named', async () => {
    expect(await errorOfTls({}, true)).toBe('HOST does not speak HTTP/1.1, only HTTP/2');
  });
});

describe('a malformed response', () => {
  test.each([
    ['HTTP/1.1 200 OK\r\nX Foo: 1\r\n\r\n', 'an invalid character in the name of a header'],
    ['HTTP/1.1 200 OK\r\nX-Foo: a\u0001b\r\n\r\n', 'an invalid character in the value of a header'],
    ['HTTP/1.1 200 OK\nContent-Length: 0\n\n', 'a line ends without CR LF'],
    [
      'HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n',
      'its Content-Length is not a number, or there are several',
    ],
    ['HTTP/1.1 2xx OK\r\n\r\n', 'its status is not a number of three digits'],
    ['HTTP/9.1 200 OK\r\n\r\n', 'its version of HTTP is unknown'],
    ['220 smtp ready\r\n', 'it does not begin with HTTP/1.1'],
  ])('the problem of %j is named', async (response, problem) => {
    const host = await startTcpServer((socket: Socket) => socket.once('data', () => socket.end(response)));
    expect(await startSender().send(attempt(`http://${host}`))).toMatchObject({
      outcome: 'failure',
      status: null,
      error: `${host} did not respond with valid HTTP: ${problem}`,
    });
  });
});

describe('firewalls', () => {
  test.each([
    [403, { 'cf-mitigated': 'challenge', server: 'cloudflare' }, 'Cloudflare'],
    [503, { server: 'cloudflare' }, 'Cloudflare'],
    [403, { server: 'AkamaiGHost' }, 'Akamai'],
    [403, { 'x-iinfo': '1-2-3' }, 'Imperva'],
    [403, { server: 'Sucuri/Cloudproxy' }, 'Sucuri'],
  ])('a response of %i %j names the firewall', async (status, headers, name) => {
    const receiver = await receiverOfTest({ status, headers });
    const { error } = await startSender().send(attempt(receiver.url));
    expect(error).toContain(`: the firewall in front of it (${name}) refused the request`);
  });

  test('a response of the shop, or without the marks of a firewall, names none', async () => {
    for (const [status, headers] of [
      [500, { server: 'cloudflare' }],
      [403, { server: 'nginx' }],
    ] as const) {
      const receiver = await receiverOfTest({ status, headers });
      expect((await startSender().send(attempt(receiver.url))).error).not.toContain('firewall');
    }
  });
});
