/** Where deliveries may lead, and what e-shops and operators see of it, by the configuration. */
import { describe, expect, test } from 'vitest';
import { configuredGuard, deliveriesFrom, plainUrls, proxyNotice } from '../../src/app/outgoing.ts';
import { loadConfig } from '../../src/config/config.ts';
import { createOwnEndpoints } from '../../src/delivery/own-endpoints.ts';
import { version } from '../../src/lib/version.ts';

describe('with WEBHOOK_HTTPS_ONLY', () => {
  const problem = configuredGuard(loadConfig({ WEBHOOK_HTTPS_ONLY: 'true' }), createOwnEndpoints());

  test('a forbidden address is refused too', () => {
    expect(problem('https://10.0.0.5/')).toBe('must not lead to 10.0.0.5, which is in a private range');
    expect(problem('http://10.0.0.5/', 'http://10.0.0.5/')).toMatch(/^must not lead to/);
    expect(problem('HTTPS://shop.example/hook')).toBeNull();
  });
});

test('without WEBHOOK_HTTPS_ONLY, http and https are accepted', () => {
  expect(configuredGuard(loadConfig({}), createOwnEndpoints())('http://shop.example/')).toBeNull();
});

test('a start behind https warns that webhooks may be http, unless they may not or there is no API', () => {
  const PUBLIC_URL = 'https://waybill.example';
  const warning = (env: Record<string, string>) => plainUrls(loadConfig(env));
  expect(warning({ PUBLIC_URL })).toContain('set WEBHOOK_HTTPS_ONLY=true');
  expect(warning({ PUBLIC_URL, WEBHOOK_HTTPS_ONLY: 'true' })).toBeNull();
  expect(warning({ PUBLIC_URL: 'http://waybill.example' })).toBeNull();
  expect(warning({})).toBeNull();
  const worker = { ROLE: 'worker', DATABASE_URL: 'postgres://a@b/c', TEMPORAL_ADDRESS: 'temporal:7233' };
  const SECRET_KEY = Buffer.alloc(32, 1).toString('base64');
  expect(warning({ PUBLIC_URL, ...worker, SECRET_KEY })).toBeNull();
});

test('a start with a proxy says what the guard covers, without credentials', () => {
  const notice = proxyNotice(loadConfig({ OUTBOUND_PROXY: 'http://waybill:secret@proxy.example:3128' }));
  expect(notice).toContain('http://proxy.example:3128. ');
  expect(notice).not.toContain('secret');
  expect(proxyNotice(loadConfig({}))).toBeNull();
});

test('e-shops see the configured addresses', () => {
  const EGRESS_ADDRESSES = '203.0.113.0/28, 2001:db8::/64';
  expect(deliveriesFrom(loadConfig({ EGRESS_ADDRESSES }))).toEqual({
    addresses: ['203.0.113.0/28', '2001:db8::/64'],
    userAgent: `Waybill/${version}`,
  });
  expect(deliveriesFrom(loadConfig({})).addresses).toEqual([]);
});
