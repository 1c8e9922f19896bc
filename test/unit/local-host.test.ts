/** A server's socket says whether only this machine can reach it: a configured host has many spellings. */
import { afterEach, expect, it } from 'vitest';
import { type HttpServer, listen } from '../../src/http/http-server.ts';
import { isLoopback } from '../../src/lib/local-host.ts';

let server: HttpServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const app = { fetch: () => new Response() };

it.each([
  '127.0.0.1',
  '127.1',
  '127.0.0.9',
  'localhost',
  'LOCALHOST',
  '0177.0.0.1',
  '0x7f.1',
  '2130706433',
  '::1',
  '0:0:0:0:0:0:0:1',
  '::ffff:127.0.0.1',
])('HOST=%s is reachable only from this machine', async (host) => {
  // Not every system has all of them; a start refuses those that it has not.
  server = await listen(app, host, 0).catch(() => undefined);
  if (server !== undefined) expect(isLoopback(server.address)).toBe(true);
  else expect(['::1', '0:0:0:0:0:0:0:1', '127.0.0.9']).toContain(host);
});

it.each(['0.0.0.0', '0', '::'])('HOST=%s is reachable from other machines', async (host) => {
  server = await listen(app, host, 0).catch(() => undefined);
  if (server !== undefined) expect(isLoopback(server.address)).toBe(false);
  else expect(host).toBe('::');
});
