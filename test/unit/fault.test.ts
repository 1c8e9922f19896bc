/** Receiver failure or internal failure: the whole table, written out. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { FAULTS, type FailedStep, faultOf, isInternalFault } from '../../src/delivery/fault.ts';

const lookup = (code: string): FailedStep => ({ code, step: 'lookup' });
const dialled = (code: string, address = '93.184.216.34'): FailedStep => ({
  code,
  step: 'connection',
  address,
});

/** Failed steps, and whether the failure is internal: if all else works, without a resolver, without a route. */
const table: readonly (readonly [string, readonly FailedStep[], boolean, boolean, boolean])[] = [
  ['the name does not exist', [lookup('ENOTFOUND')], false, false, false],
  ['the name has no address', [lookup('ENODATA')], false, false, false],
  ['no name at all', [lookup('EBADNAME')], false, false, false],
  ['no answer about the name', [lookup('ETIMEOUT')], false, true, false],
  ['the resolver could not find out', [lookup('ESERVFAIL')], false, true, false],
  ['the resolver does not want to', [lookup('EREFUSED')], false, true, false],
  ['the resolver did not understand', [lookup('EFORMERR')], false, true, false],
  ['an answer that is none', [lookup('EBADRESP')], false, true, false],
  ['a question nobody implements', [lookup('ENOTIMP')], false, true, false],
  ['one family unknown, the other silent', [lookup('ENODATA'), lookup('ETIMEOUT')], false, false, false],
  ['the resolver is not there', [lookup('ECONNREFUSED')], true, true, true],
  ['the resolver says: later', [lookup('EAI_AGAIN')], true, true, true],
  ['the resolver has failed', [lookup('EAI_FAIL')], true, true, true],
  ['the lookup was ended', [lookup('ECANCELLED')], true, true, true],
  ['the resolver is being closed', [lookup('EDESTRUCTION')], true, true, true],
  ['resolv.conf cannot be read', [lookup('EFILE')], true, true, true],
  ['too many lookups', [lookup('ELOOKUPS')], true, true, true],
  ['the receiver refuses', [dialled('ECONNREFUSED')], false, false, false],
  ['the receiver resets', [dialled('ECONNRESET')], false, false, false],
  ['the receiver is silent', [dialled('ETIMEDOUT')], false, false, false],
  ['something unheard of', [dialled('EWHATEVER')], false, false, false],
  ['no file descriptor here', [dialled('EMFILE')], true, true, true],
  ['no file descriptor on the machine', [dialled('ENFILE')], true, true, true],
  ['no memory', [dialled('ENOMEM')], true, true, true],
  ['no buffer', [dialled('ENOBUFS')], true, true, true],
  ['no local port', [dialled('EADDRNOTAVAIL')], true, true, true],
  ['a local port in use', [dialled('EADDRINUSE')], true, true, true],
  ['not allowed to', [dialled('EPERM')], true, true, true],
  ['forbidden to', [dialled('EACCES')], true, true, true],
  ['the network is down', [dialled('ENETDOWN')], false, false, true],
  ['no way to that network', [dialled('ENETUNREACH')], false, false, true],
  ['no way to that host', [dialled('EHOSTUNREACH')], false, false, true],
  ['no IPv6 here, and no other address there', [dialled('ENETUNREACH', '2001:db8::1')], false, false, true],
  [
    'IPv6 switched off, and no other address there',
    [dialled('EADDRNOTAVAIL', '2001:db8::1')],
    false,
    false,
    true,
  ],
  [
    'no IPv6 here, and IPv4 refused there',
    [dialled('ECONNREFUSED'), dialled('ENETUNREACH', '2001:db8::1')],
    false,
    false,
    false,
  ],
  ['no descriptor for any address', [dialled('EMFILE'), dialled('EMFILE', '2001:db8::1')], true, true, true],
  ['nothing of the kind (TLS, HTTP)', [], false, false, false],
];

test.each(table)('%s', async (_, steps, ...internal) => {
  const evidence = (resolver: boolean, route: boolean) => ({
    resolverAnswers: async () => resolver,
    hasRoute: async () => route,
  });

  expect([
    await isInternalFault(steps, evidence(true, true)),
    await isInternalFault(steps, evidence(false, true)),
    await isInternalFault(steps, evidence(true, false)),
  ]).toEqual(internal);
});

test('every code in the table of the code is tested here, and documented in docs/deliveries.md', () => {
  const tested = new Set(table.flatMap(([, steps]) => steps.map(({ code }) => code)));
  const shown = readFileSync(new URL('../../docs/deliveries.md', import.meta.url), 'utf8');
  const section = /## Whose failure it is\n(.*?)(?:\n##|$)/s.exec(shown)?.[1] ?? '';

  expect(Object.keys(FAULTS).filter((code) => !tested.has(code))).toEqual([]);
  expect(Object.keys(FAULTS).filter((code) => !section.includes(`\`${code}\``))).toEqual([]);
});

test('an unknown code is the receiver’s; without an address the family is unknown', () => {
  expect(faultOf({ code: 'EWHATEVER', step: 'connection' })).toBe('receiver');
  expect(faultOf({ code: 'EADDRNOTAVAIL', step: 'connection' })).toBe('internal');
});
