/** The check of a URL at its registration. */
import { expect, test } from 'vitest';
import { createAddressGuard, destinationProblem } from '../../src/delivery/address-guard.ts';
import { createOwnEndpoints } from '../../src/delivery/own-endpoints.ts';

const own = createOwnEndpoints();
own.add('127.0.0.1', 8080);
const strict = createAddressGuard([], own);
const local = createAddressGuard(['127.0.0.0/8'], own);
const everywhere = createAddressGuard(['0.0.0.0/0', '::/0'], createOwnEndpoints());

test.each([
  'https://shop.example/hook',
  'https://shop.example:8443/hook',
  'https://8.8.8.8/',
  'https://[2001:4860:4860::8888]/',
  // These are names, whatever they begin or end with.
  'https://localhost.example/',
  'https://notlocalhost/',
])('%s may be registered', (url) => {
  expect(destinationProblem(strict, url)).toBeNull();
});

test.each([
  ['https://10.0.0.5/hook', '10.0.0.5'],
  ['http://127.0.0.1:9000/', '127.0.0.1'],
  ['http://[::1]/', '::1'],
  ['http://localhost/', 'localhost'],
  ['http://localhost./', 'localhost.'],
  ['http://shop.localhost:3000/', 'shop.localhost'],
])('%s may never be registered', (url, host) => {
  expect(destinationProblem(strict, url)).toMatch(
    new RegExp(`^must not lead to ${host.replaceAll('.', '\\.')}, which .+`),
  );
});

test('an exempt address, or its name, may be registered, except for our own ports', () => {
  expect(destinationProblem(local, 'http://127.0.0.1:9000/')).toBeNull();
  // It stands for two addresses; one exempt one is enough.
  expect(destinationProblem(local, 'http://localhost:9000/')).toBeNull();
  expect(destinationProblem(local, 'http://127.0.0.1:8080/')).toContain('127.0.0.1');
});

test('a URL without a port has the default port of its scheme', () => {
  const endpoints = createOwnEndpoints();
  endpoints.add('127.0.0.1', 80);
  const guard = createAddressGuard(['127.0.0.0/8'], endpoints);
  expect(destinationProblem(guard, 'http://127.0.0.1/')).not.toBeNull();
  expect(destinationProblem(guard, 'https://127.0.0.1/')).toBeNull();
  endpoints.add('127.0.0.1', 443);
  expect(destinationProblem(guard, 'https://127.0.0.1/')).not.toBeNull();
  expect(destinationProblem(everywhere, 'http://localhost/')).toBeNull();
});
