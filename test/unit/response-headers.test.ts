/** What is shown of the headers of a receiver's answer to a test. */
import { expect, test } from 'vitest';
import { usefulHeaders } from '../../src/delivery/response-headers.ts';

test('those that help, and none that may be confidential', () => {
  expect(
    usefulHeaders({
      'content-type': 'text/html',
      location: 'https://shop.example/',
      'set-cookie': ['session=secret'],
      'x-internal': 'secret',
    }),
  ).toEqual({ 'content-type': 'text/html', location: 'https://shop.example/' });
});

test('several values are one, long ones are cut, control characters are taken out', () => {
  const shown = usefulHeaders({
    allow: ['GET', 'PUT'],
    server: '\u001b[31mNginx\u009b ž',
    via: 'x'.repeat(501),
  });
  expect(shown).toEqual({ allow: 'GET, PUT', server: '\ufffd[31mNginx\ufffd ž', via: `${'x'.repeat(500)}…` });
});
