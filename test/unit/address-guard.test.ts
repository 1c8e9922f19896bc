import { expect, test } from 'vitest';
import { createAddressGuard } from '../../src/delivery/address-guard.ts';

const guard = createAddressGuard([]);

test.each([
  ['10.0.0.5', 'a private range'],
  ['10.255.255.255', 'a private range'],
  ['172.16.0.1', 'a private range'],
  ['172.31.255.254', 'a private range'],
  ['192.168.1.1', 'a private range'],
  ['100.64.0.1', 'a private range (carrier-grade NAT)'],
  ['100.100.100.200', 'a private range (carrier-grade NAT)'],
  ['127.0.0.1', 'a loopback range'],
  ['127.255.255.254', 'a loopback range'],
  ['0.0.0.0', 'a special-purpose range'],
  ['0.1.2.3', 'a special-purpose range'],
  ['169.254.1.1', 'a link-local range'],
  ['169.254.169.254', 'a metadata range'],
  ['168.63.129.16', 'a metadata range'],
  ['192.0.0.192', 'a special-purpose range'],
  ['192.0.2.1', 'a special-purpose range'],
  ['198.18.0.1', 'a special-purpose range'],
  ['198.51.100.7', 'a special-purpose range'],
  ['203.0.113.7', 'a special-purpose range'],
  ['192.88.99.1', 'a special-purpose range'],
  ['224.0.0.1', 'a multicast range'],
  ['239.255.255.255', 'a multicast range'],
  ['240.0.0.1', 'a special-purpose range'],
  ['255.255.255.255', 'a special-purpose range'],
  ['::', 'a special-purpose range'],
  ['::1', 'a loopback range'],
  ['fe80::1', 'a link-local range'],
  ['fe80::1%eth0', 'a link-local range'],
  ['fc00::1', 'a private range'],
  ['fd12:3456::1', 'a private range'],
  ['fd00:ec2::254', 'a metadata range'],
  ['fec0::1', 'a private range'],
  ['ff02::1', 'a multicast range'],
  ['100::1', 'a special-purpose range'],
  ['2001:db8::1', 'a special-purpose range'],
  ['3fff::1', 'a special-purpose range'],
  ['2001:2::1', 'a special-purpose range'],
  ['2001:20::1', 'a special-purpose range'],
  ['5f00::1', 'a special-purpose range'],
  ['4000::1', 'a special-purpose range'],
  // IPv4 addresses inside IPv6 ones: mapped, compatible, NAT64 (well-known and local), SIIT, 6to4, Teredo.
  ['::ffff:127.0.0.1', 'a loopback range'],
  ['::ffff:10.0.0.5', 'a private range'],
  ['::ffff:a00:5', 'a private range'],
  ['::ffff:169.254.169.254', 'a metadata range'],
  ['::10.0.0.5', 'a special-purpose range'],
  ['::127.0.0.1', 'a special-purpose range'],
  ['::8.8.8.8', 'a special-purpose range'],
  ['::808:808', 'a special-purpose range'],
  ['0:0:0:0:0:0:8.8.8.8', 'a special-purpose range'],
  ['64:ff9b::10.0.0.5', 'a translated range (NAT64)'],
  ['64:ff9b::8.8.8.8', 'a translated range (NAT64)'],
  ['64:ff9b:1::10.0.0.5', 'a translated range (NAT64)'],
  ['::ffff:0:10.0.0.5', 'a translated range'],
  ['2002:0a00:0005::1', 'a translated range (6to4)'],
  ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'a translated range (Teredo)'],
  ['shop.example', 'an unknown form of address'],
  ['', 'an unknown form of address'],
])('%s is refused as %s', (address, range) => {
  expect(guard.problemOf(address, 443)).toBe(`is in ${range}`);
});

test.each([
  '8.8.8.8',
  '93.184.216.34',
  '172.15.255.255',
  '172.32.0.1',
  '100.63.255.255',
  '100.128.0.1',
  '169.253.0.1',
  '223.255.255.254',
  '::ffff:8.8.8.8',
  '2606:4700:4700::1111',
  '2a00:1450:4014:80e::200e',
])('%s may be called', (address) => {
  expect(guard.problemOf(address, 443)).toBeNull();
});

test('exempt ranges may be called, their neighbors may not', () => {
  const exempting = createAddressGuard(['127.0.0.0/8', '::1/128', '10.1.0.0/16', '64:ff9b::/96']);

  for (const address of ['127.0.0.1', '::1', '10.1.2.3', '::ffff:127.0.0.1', '64:ff9b::8.8.8.8']) {
    expect(exempting.problemOf(address, 443)).toBeNull();
  }
  for (const address of ['10.2.0.1', '::2', '192.168.0.1', '::ffff:10.2.0.1']) {
    expect(exempting.problemOf(address, 443)).not.toBeNull();
  }
});
