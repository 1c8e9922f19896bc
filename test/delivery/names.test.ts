/** Name lookups on a real name server: whose failure it is, and who waits for whom. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { localNames } from '../../src/delivery/local-names.ts';
import { createResolver, LOOKUPS_AT_ONCE, LookupError } from '../../src/delivery/resolver.ts';
import { folderOfTest } from '../support/ends.ts';
import { receiverOfTest } from '../support/lifetimes.ts';
import { standStill } from '../support/stand-still.ts';
import { attempt, startNames, startSender } from './support.ts';

const HERE = ['127.0.0.1'];

describe('lookups', () => {
  test('names are looked up at the configured name servers', async () => {
    const receiver = await receiverOfTest();
    const dns = await startNames({ 'shop.example': HERE });

    const result = await startSender({ dnsServers: [dns.address] }).send(
      attempt(`http://Shop.Example:${receiver.port}`),
    );

    expect(result).toMatchObject({ outcome: 'success' });
    expect(receiver.requests[0]?.headers.host).toBe(`shop.example:${receiver.port}`);
  });

  test('a name whose IPv6 address does not respond is reached over IPv4', async () => {
    const receiver = await receiverOfTest();
    // The receiver listens on IPv4 only.
    const dns = await startNames({ 'shop.example': ['::1', ...HERE], 'v6.example': ['::1'] });
    const sender = startSender({ dnsServers: [dns.address] });

    expect((await sender.send(attempt(`http://shop.example:${receiver.port}`))).outcome).toBe('success');
    expect(await sender.send(attempt(`http://v6.example:${receiver.port}`))).toMatchObject({
      outcome: 'failure',
      error: expect.stringMatching(/^v6\.example:\d+ (refused the connection|cannot be reached)/),
    });
  });

  test('a name that resolves for one family does not wait for the other', async () => {
    const receiver = await receiverOfTest();
    const dns = await startNames({ 'shop.example': HERE, 'shop.example AAAA': 'silent' });
    const resolver = createResolver({ servers: [dns.address], timeoutMs: 20_000 });

    expect(await resolver.resolve('shop.example', 'shop')).toEqual([{ address: '127.0.0.1', family: 4 }]);
    resolver.close();
    const sender = startSender({ dnsServers: [dns.address] });
    expect((await sender.send(attempt(`http://shop.example:${receiver.port}`))).outcome).toBe('success');
  });

  test('a name is looked up for every connection; a private answer is refused, and not shown', async () => {
    const receiver = await receiverOfTest({ headers: { connection: 'close' } });
    const dns = await startNames({ 'shop.example': HERE });
    const sender = startSender({ dnsServers: [dns.address] });
    const url = `http://shop.example:${receiver.port}`;
    expect((await sender.send(attempt(url))).outcome).toBe('success');

    dns.set('shop.example', ['10.0.0.5']);

    const result = await sender.send(attempt(url));
    expect(result).toMatchObject({
      outcome: 'failure',
      error: `the address of shop.example:${receiver.port} is not allowed`,
    });
    expect(JSON.stringify(result)).not.toContain('10.0.0.5');
    expect(receiver.requests).toHaveLength(1);
  });

  test('local and invalid names are not asked of a name server', async () => {
    const receiver = await receiverOfTest();
    const dns = await startNames({});
    const sender = startSender({ dnsServers: [dns.address] });

    for (const name of ['localhost', 'shop.localhost', 'LOCALHOST.']) {
      expect((await sender.send(attempt(`http://${name}:${receiver.port}`))).outcome).toBe('success');
    }
    expect((await sender.send(attempt('http://x.invalid'))).outcome).toBe('failure');
    expect(dns.questions).toEqual([]);
  });

  test('lines of the hosts file count as soon as they are written', async () => {
    const folder = await folderOfTest('waybill-hosts-');
    const file = join(folder, 'hosts');
    const lookUp = localNames(file);
    expect(lookUp('shop.internal')).toBeUndefined();

    await writeFile(
      file,
      '# 10.0.0.9 shop.internal\n10.0.0.7  Shop.Internal shop # 10.0.0.8 shop.internal\nnot-an-address shop\nfd00::7\tshop.internal\n',
    );

    await expect
      .poll(() => lookUp('shop.internal'))
      .toEqual([
        { address: '10.0.0.7', family: 4 },
        { address: 'fd00::7', family: 6 },
      ]);
    expect(lookUp('shop')).toEqual([{ address: '10.0.0.7', family: 4 }]);
  });
});

describe('failed lookups', () => {
  test.each([
    ['nxdomain', 'shop.example has no address (DNS: ENOTFOUND)'],
    [[], 'shop.example has no address (DNS: ENODATA)'],
    ['servfail', 'the name server of shop.example does not respond properly (DNS: ESERVFAIL)'],
    ['refused', 'the name server of shop.example does not respond properly (DNS: EREFUSED)'],
    ['silent', 'the name server of shop.example does not respond properly (DNS: ETIMEOUT)'],
  ] as const)('%s is a failure of the receiver if our resolver answers otherwise', async (answer, error) => {
    const dns = await startNames({ 'shop.example': answer });
    const sender = startSender({ dnsServers: [dns.address], connectTimeoutMs: 5_000 });

    expect(await sender.send(attempt('http://shop.example'))).toMatchObject({ outcome: 'failure', error });
  });

  test.each([
    ['silent', 'ETIMEOUT'],
    ['servfail', 'ESERVFAIL'],
    ['refused', 'EREFUSED'],
  ] as const)('%s for every name is an internal failure', async (answer, code) => {
    const dns = await startNames({ 'shop.example': answer, '.': answer });
    const sender = startSender({ dnsServers: [dns.address], connectTimeoutMs: 5_000 });

    expect(await sender.send(attempt('http://shop.example'))).toMatchObject({
      outcome: 'internal',
      error: `our resolver is not responding (DNS: ${code}), so shop.example could not be looked up`,
    });
  });

  test('a missing resolver is an internal failure, however short the time-out of the attempt', async () => {
    const dns = await startNames({ 'shop.example': 'silent', '.': 'silent' });
    const sender = startSender({ dnsServers: [dns.address], timeoutMs: 1_000 });
    expect((await sender.send(attempt('http://shop.example'))).outcome).toBe('internal');
  });

  test('a missing resolver is an internal failure, and the next attempt succeeds once it is back', async () => {
    const receiver = await receiverOfTest();
    const dns = await startNames({ 'shop.example': HERE });
    const sender = startSender({ dnsServers: [dns.address], connectTimeoutMs: 4_000 });
    dns.answerAll(false);
    expect((await sender.send(attempt(`http://shop.example:${receiver.port}`))).outcome).toBe('internal');

    dns.answerAll(true);

    expect((await sender.send(attempt(`http://shop.example:${receiver.port}`))).outcome).toBe('success');
    const nowhere = startSender({ dnsServers: ['127.0.0.1:1'] });
    expect(await nowhere.send(attempt('http://shop.example'))).toMatchObject({
      outcome: 'internal',
      error: 'our resolver is not responding (DNS: ECONNREFUSED), so shop.example could not be looked up',
    });
  });
});

test('a resolver outage that ends during a lookup does not fail the name', async () => {
  const dns = await startNames({ 'shop.example': HERE });
  const resolver = createResolver({ servers: [dns.address], timeoutMs: 12_000 });
  dns.answerAll(false);
  const found = resolver.resolve('shop.example', 'shop');
  // Both families, each twice: all queries of the first try.
  await expect.poll(() => dns.questions.length).toBe(4);

  dns.answerAll(true);

  expect(await found).toEqual([{ address: '127.0.0.1', family: 4 }]);
  resolver.close();
});

test('a lookup during a stall of this process is an internal failure', async () => {
  const dns = await startNames({ 'shop.example': 'silent' });
  const resolver = createResolver({ servers: [dns.address], timeoutMs: 2_000 });
  const found = resolver.resolve('shop.example', 'shop').catch((error: unknown) => error);
  await expect.poll(() => dns.questions.length).toBeGreaterThan(0);

  standStill(4_000);

  expect(await found).toMatchObject({ name: 'LookupError', internal: true });
  resolver.close();
});

test('many silent names of one e-shop neither delay nor fail the names of another', async () => {
  const receiver = await receiverOfTest({ headers: { connection: 'close' } });
  const silent = Array.from({ length: 4 * LOOKUPS_AT_ONCE }, (_, index) => `mute${index}.example`);
  const healthy = Array.from({ length: 5 }, (_, index) => `shop${index}.example`);
  const dns = await startNames({
    ...Object.fromEntries(silent.map((name) => [name, 'silent' as const])),
    ...Object.fromEntries(healthy.map((name) => [name, HERE])),
  });
  // However busy the machine is, no lookup of a silent name times out before the test ends it.
  const times = { timeoutMs: 2_000_000, connectTimeoutMs: 1_000_000 };
  const sender = startSender({ dnsServers: [dns.address], ...times });
  const giveUp = silent.map(() => new AbortController());
  let over = 0;
  const hanging = silent.map((name, index) =>
    sender.send(attempt(`http://${name}`, { eshopId: 1 }), giveUp[index]?.signal).finally(() => {
      over += 1;
    }),
  );

  for (let round = 0; round < 12; round += 1) {
    const results = await Promise.all(
      healthy.map((name) => sender.send(attempt(`http://${name}:${receiver.port}`, { eshopId: 2 }))),
    );
    expect(results.map(({ outcome }) => outcome)).toEqual(healthy.map(() => 'success'));
  }

  // The silent names were still being looked up.
  expect(over).toBe(0);
  expect(receiver.requests).toHaveLength(60);
  for (const each of giveUp) each.abort();
  await Promise.allSettled(hanging);
});

test('a name with only an IPv6 address resolves to it', async () => {
  const dns = await startNames({ 'shop.example': ['2001:db8::7'] });
  const resolver = createResolver({ servers: [dns.address], timeoutMs: 30_000 });

  expect(await resolver.resolve('shop.example', 'shop')).toEqual([{ address: '2001:db8::7', family: 6 }]);
});

test('lookups of one e-shop are limited, and a name that waited for its turn is not blamed', async () => {
  const names = Array.from({ length: 2 * LOOKUPS_AT_ONCE }, (_, index) => `mute${index}.example`);
  const dns = await startNames(Object.fromEntries(names.map((name) => [name, 'silent' as const])));
  const resolver = createResolver({ servers: [dns.address], timeoutMs: 4_000 });

  const failures = await Promise.allSettled(names.map((name) => resolver.resolve(name, 'shop')));

  const internal = failures.map((each) =>
    each.status === 'rejected' && each.reason instanceof LookupError ? each.reason.internal : undefined,
  );
  expect(internal.slice(0, LOOKUPS_AT_ONCE)).toEqual(Array(LOOKUPS_AT_ONCE).fill(false));
  expect(internal.slice(LOOKUPS_AT_ONCE)).toEqual(Array(LOOKUPS_AT_ONCE).fill(true));
  const asked = new Set(dns.questions.filter((question) => question.startsWith('mute')));
  expect(asked.size).toBe(2 * LOOKUPS_AT_ONCE);
  resolver.close();
});

test('an attempt that is refused by the limit of lookups says so', async () => {
  const names = Array.from({ length: LOOKUPS_AT_ONCE + 1 }, (_, index) => `mute${index}.example`);
  const dns = await startNames(Object.fromEntries(names.map((name) => [name, 'silent' as const])));
  const sender = startSender({ dnsServers: [dns.address], connectTimeoutMs: 5_000, timeoutMs: 15_000 });

  const results = await Promise.all(names.map((name) => sender.send(attempt(`http://${name}`))));

  const lookupsFull = results.filter((result) => result.lookupsFull === true);
  expect(lookupsFull).toMatchObject([
    { outcome: 'internal', error: expect.stringContaining('too many DNS lookups') },
  ]);
});

test('simultaneous lookups of one name are merged', async () => {
  const dns = await startNames({ 'shop.example': HERE });
  // A long time before a query is repeated.
  const resolver = createResolver({ servers: [dns.address], timeoutMs: 60_000 });

  await Promise.all(Array.from({ length: 50 }, () => resolver.resolve('shop.example', 'shop')));

  expect([...dns.questions].sort()).toEqual(['shop.example A', 'shop.example AAAA']);
});
