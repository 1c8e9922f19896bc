import { networkInterfaces } from 'node:os';
import { expect, test, vi } from 'vitest';
import { createAddressGuard, destinationProblem } from '../../src/delivery/address-guard.ts';
import { combinedResolver, createOwnEndpoints, followNames } from '../../src/delivery/own-endpoints.ts';

const everything = ['0.0.0.0/0', '::/0'];

test('a port of this machine is an own endpoint at each of its addresses', () => {
  const own = createOwnEndpoints();
  own.add('127.0.0.1', 8233);
  const mine = Object.values(networkInterfaces()).flatMap(
    (found) => found?.map(({ address }) => address) ?? [],
  );

  for (const host of [
    '127.0.0.1',
    '127.9.9.9',
    '::1',
    '[::1]',
    '0.0.0.0',
    '::',
    '::ffff:127.0.0.1',
    'LOCALHOST',
    ...mine,
  ]) {
    expect([host, own.includes(host, 8233), own.includes(host, 8234)]).toEqual([host, true, false]);
  }
  expect(own.includes('93.184.216.34', 8233)).toBe(false);
});

test.each(['0.0.0.0', '::', 'localhost'])(
  'a server on %s is an own endpoint at every address of this machine',
  (host) => {
    const own = createOwnEndpoints();
    own.add(host, 8080);

    expect(own.includes('127.0.0.1', 8080)).toBe(true);
  },
);

test('a port of another machine is an own endpoint only there, by address and by name', async () => {
  const own = createOwnEndpoints();
  own.addUrl('postgres://waybill:p%40ss@Db.internal/waybill', 5432);
  own.add('10.0.0.9', 7233);
  const stop = followNames(own, async () => [{ address: '10.0.0.8' }, { address: 'fd00::8' }]);

  await expect.poll(() => own.includes('10.0.0.8', 5432)).toBe(true);
  stop();

  const found = [
    ['db.internal.', 5432],
    ['fd00:0::8', 5432],
    ['10.0.0.9', 7233],
    ['::ffff:10.0.0.9', 7233],
    ['10.0.0.8', 5433],
    ['10.0.0.9', 5432],
    ['127.0.0.1', 5432],
    ['other.internal', 5432],
  ] as const;
  expect(found.map(([host, port]) => own.includes(host, port))).toEqual([
    true,
    true,
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});

test('a name that leads to this machine makes its port an own endpoint at every address', async () => {
  const own = createOwnEndpoints();
  own.add('postgres', 5432);
  const stop = followNames(own, async () => [{ address: '127.0.0.1' }]);

  await expect.poll(() => own.includes('::1', 5432)).toBe(true);
  stop();
});

test('ports of another process count as long as it lists them', () => {
  const listed: number[] = [];
  const own = createOwnEndpoints(() => listed);
  expect(own.includes('127.0.0.1', 8080)).toBe(false);
  listed.push(8080);
  expect([own.includes('127.0.0.1', 8080), own.includes('192.0.2.7', 8080)]).toEqual([true, false]);
  listed.pop();
  expect(own.includes('localhost', 8080)).toBe(false);
});

test('the guard refuses own endpoints whatever is exempt, and then nothing else', () => {
  const own = createOwnEndpoints();
  own.add('127.0.0.1', 8233);
  own.add('db.internal', 5432);
  const guard = createAddressGuard(everything, own);

  expect(guard.problemOf('127.0.0.1', 8233)).toBe('belongs to this service on that port');
  expect(guard.problemOf('127.0.0.1', 8234)).toBeNull();
  expect(guard.problemOfHost('db.internal', 5432)).toBe('belongs to this service on that port');
  expect(guard.problemOfHost('db.internal', 80)).toBeNull();
});

test.each([
  ['http://10.0.0.5/', 'must not lead to 10.0.0.5, which is in a private range'],
  ['http://[fd00::1]:8000/', 'must not lead to fd00::1, which is in a private range'],
  ['http://167772165/', 'must not lead to 10.0.0.5, which is in a private range'],
  ['https://169.254.169.254/latest', 'must not lead to 169.254.169.254, which is in a metadata range'],
  ['http://127.0.0.1:9000/', 'must not lead to 127.0.0.1, which is in a loopback range'],
  ['http://[::1]/', 'must not lead to ::1, which is in a loopback range'],
  ['http://localhost/', 'must not lead to localhost, which is in a loopback range'],
  ['http://localhost./', 'must not lead to localhost., which is in a loopback range'],
  ['http://shop.localhost./', 'must not lead to shop.localhost., which is in a loopback range'],
  [
    'https://93.184.216.34:5432/',
    'must not lead to 93.184.216.34, which belongs to this service on that port',
  ],
  ['https://93.184.216.35/', 'must not lead to 93.184.216.35, which belongs to this service on that port'],
  ['http://93.184.216.36/', 'must not lead to 93.184.216.36, which belongs to this service on that port'],
  ['https://93.184.216.34/', null],
  ['https://93.184.216.36/', null],
  ['https://[2001:4860:4860::8888]/', null],
  // These are names, whatever they begin or end with.
  ['https://localhost.example/', null],
  ['https://notlocalhost/', null],
  ['https://shop.example/', null],
])('registering %s: %s', (url, problem) => {
  const own = createOwnEndpoints();
  own.add('93.184.216.34', 5432);
  own.add('93.184.216.35', 443);
  own.add('93.184.216.36', 80);

  expect(destinationProblem(createAddressGuard([], own), url)).toBe(problem);
});

test('a name for loopback may be registered if one of its addresses is exempt', () => {
  expect(destinationProblem(createAddressGuard(['::1/128']), 'http://localhost:9000/')).toBeNull();
});

test('a URL adds its own port, or else the default, and nothing without a host', () => {
  const own = createOwnEndpoints();
  own.addUrl('postgres://db.internal:15432/waybill', 5432);
  own.addUrl('postgres:///waybill', 5432);
  own.add('192.0.2.1', 25);
  expect(own.includes('db.internal', 15_432)).toBe(true);
  expect(own.includes('db.internal', 5_432)).toBe(false);
  // An address needs no lookup.
  expect(own.names()).toEqual([{ name: 'db.internal', ports: [15_432] }]);
});

test('names are looked up every half minute until stopped; a failed lookup delays no other', async () => {
  vi.useFakeTimers();
  try {
    const own = createOwnEndpoints();
    own.add('gone.internal', 80);
    own.add('db.internal', 5432);
    let address = '192.0.2.1';
    const stop = followNames(own, async (name) => {
      if (name === 'gone.internal') throw new Error('ENOTFOUND');
      return [{ address }];
    });
    await vi.advanceTimersByTimeAsync(1);
    expect(own.includes('192.0.2.1', 5432)).toBe(true);
    address = '192.0.2.2';
    await vi.advanceTimersByTimeAsync(30_000);
    expect(own.includes('192.0.2.2', 5432)).toBe(true);
    stop();
    address = '192.0.2.3';
    await vi.advanceTimersByTimeAsync(120_000);
    expect(own.includes('192.0.2.3', 5432)).toBe(false);
  } finally {
    vi.useRealTimers();
  }
});

test('addresses of a name behind a rotating balancer count for about ten minutes', async () => {
  vi.useFakeTimers();
  try {
    const own = createOwnEndpoints();
    own.add('collector.example', 443);
    let found: string[] | null = ['203.0.113.1', '127.0.0.1'];
    const stop = followNames(own, async () => {
      if (found === null) throw new Error('ETIMEOUT');
      return found.map((address) => ({ address }));
    });
    const areOwn = () =>
      ['203.0.113.1', '203.0.113.2', '127.0.0.1'].map((address) => own.includes(address, 443));
    await vi.advanceTimersByTimeAsync(1);
    found = ['203.0.113.2'];
    await vi.advanceTimersByTimeAsync(5 * 60_000);
    expect(areOwn()).toEqual([true, true, true]);
    await vi.advanceTimersByTimeAsync(6 * 60_000);
    expect(areOwn()).toEqual([false, true, false]);
    // While nothing answers, the last result stays.
    found = null;
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(areOwn()).toEqual([false, true, false]);
    stop();
  } finally {
    vi.useRealTimers();
  }
});

test('a name has the addresses of all resolvers; if none answers, they are unknown', async () => {
  const says = (address: string) => async () => [{ address }];
  const fails = async () => {
    throw new Error('ENOTFOUND');
  };
  expect(await combinedResolver(says('10.0.0.8'), fails, says('10.0.0.9'))('db')).toEqual([
    { address: '10.0.0.8' },
    { address: '10.0.0.9' },
  ]);
  await expect(combinedResolver(fails, fails)('db')).rejects.toThrow();
});
