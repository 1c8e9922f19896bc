/** The displayed headers of a receiver's response to a test. */
import { expect, test } from 'vitest';
import { withoutEchoes } from '../../src/delivery/echo.ts';
import { usefulHeaders } from '../../src/delivery/response-headers.ts';

const asItIs = (text: string) => text;

test('useful headers are shown, confidential ones are not', () => {
  expect(
    usefulHeaders(
      {
        'content-type': 'text/html',
        location: 'https://shop.example/',
        'set-cookie': ['session=secret'],
        'x-internal': 'secret',
      },
      asItIs,
    ),
  ).toEqual({ 'content-type': 'text/html', location: 'https://shop.example/' });
});

test('several values are joined, long ones cut, and control characters removed', () => {
  const shown = usefulHeaders(
    {
      allow: ['GET', 'PUT'],
      server: '\u001b[31mNginx\u009b ž',
      via: 'x'.repeat(501),
    },
    asItIs,
  );
  expect(shown).toEqual({ allow: 'GET, PUT', server: '\ufffd[31mNginx\ufffd ž', via: `${'x'.repeat(500)}…` });
});

test('a secret that would be cut in two is masked as a whole', () => {
  const secret = 'sk_live_0123456789abcdef0123456789abcdef';
  const location = `https://shop.example/?r=${'x'.repeat(450)}&k=${secret}&more=${'y'.repeat(100)}`;
  const shown = usefulHeaders({ location }, withoutEchoes({ 'X-Gateway-Key': secret }));
  expect(shown.location).toMatch(/&k=•••&more=y+…$/);
});
