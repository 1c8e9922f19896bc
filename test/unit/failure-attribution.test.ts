/** Which errors of a call are the receiver's failures, and which are internal. */
import { expect, test } from 'vitest';
import { isInternalFailure } from '../../src/delivery/failure-attribution.ts';
import { LookupError } from '../../src/delivery/resolver.ts';

const evidence = { resolverAnswers: async () => true, hasRoute: async () => false };
const socketError = (code: string, address?: string) =>
  Object.assign(new Error(code), { code, syscall: 'connect', ...(address === undefined ? {} : { address }) });
const wrapped = (cause: unknown) => new Error('fetch failed', { cause });

test.each<[string, unknown, boolean]>([
  ['no local port left', socketError('EADDRNOTAVAIL', '192.0.2.1'), true],
  ['refused there', socketError('ECONNREFUSED', '192.0.2.1'), false],
  ['no route, and none to the internet at all', socketError('ENETUNREACH', '192.0.2.1'), true],
  ['wrapped by the client', wrapped(wrapped(socketError('EMFILE'))), true],
  ['all addresses failed here', new AggregateError([socketError('EMFILE'), socketError('ENOBUFS')]), true],
  [
    'one address failed there',
    new AggregateError([socketError('EMFILE'), socketError('ECONNREFUSED')]),
    false,
  ],
  ['several errors without a known one', new AggregateError([]), false],
  [
    'several errors without a known one, but known as a whole',
    Object.assign(new AggregateError([]), { code: 'EMFILE', syscall: 'connect' }),
    true,
  ],
  ['another error beside one of a socket is ignored', new AggregateError([socketError('EMFILE'), 'x']), true],
  [
    'nor does one whose code is no text',
    new AggregateError([
      socketError('EMFILE'),
      Object.assign(new Error('x'), { code: 24, syscall: 'connect' }),
      new Error('x'),
    ]),
    true,
  ],
  [
    'an address that is no text',
    Object.assign(new Error('x'), { code: 'EADDRNOTAVAIL', syscall: 'connect', address: 42 }),
    true,
  ],
  ['no address was dialled', socketError('EADDRNOTAVAIL'), true],
  ['a code that is not of a socket', Object.assign(new Error('x'), { code: 'EMFILE' }), false],
  ['a code that is no text', Object.assign(new Error('x'), { code: 24, syscall: 'connect' }), false],
  ['an error of another kind', new Error('x'), false],
  ['no error at all', 'EMFILE', false],
  ['looked up: decided then', new LookupError('shop.example', 'ETIMEOUT', true), true],
  ['looked up, and the name is to blame', new LookupError('shop.example', 'EMFILE', false), false],
  [
    'several errors, with a failed lookup',
    new AggregateError([new LookupError('a', 'ETIMEOUT', true)]),
    true,
  ],
])('the failure is attributed: %s', async (_, error, internal) => {
  expect(await isInternalFailure(error, evidence)).toBe(internal);
});

test('an IPv6 address fails internally if this machine has no IPv6', async () => {
  const error = socketError('EADDRNOTAVAIL', '2001:db8::1');
  expect(await isInternalFailure(error, evidence)).toBe(true);
  expect(await isInternalFailure(error, { ...evidence, hasRoute: async () => true })).toBe(false);
});
