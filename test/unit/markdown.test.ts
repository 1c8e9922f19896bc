import { expect, test } from 'vitest';
import { literal, literalCell } from '../../workflows/markdown.ts';
import { deliveryTitle } from '../../workflows/operator-view.ts';

test.each([
  ['10001', '10001'],
  ['objednávka 1/ž', 'objednávka 1/ž'],
  ['HTTP 503 from shop.example after 212 ms', 'HTTP 503 from shop.example after 212 ms'],
  ['[pay here](https://evil.example)', '`[pay here](https://evil.example)`'],
  ['https://evil.example', '`https://evil.example`'],
  ['www.evil.example', '`www.evil.example`'],
  ['mail@evil.example', '`mail@evil.example`'],
  ['![x](http://evil.example/x.png)', '`![x](http://evil.example/x.png)`'],
  ['<img src=x onerror=alert(1)>', '`<img src=x onerror=alert(1)>`'],
  ['a`[b](c)`', "`a'[b](c)'`"],
  ['# heading', '`# heading`'],
  ['- item', '`- item`'],
  ['A_1_B', '`A_1_B`'],
  ['one\n\n# two', '`one  # two`'],
])('%j is shown literally', (text, markdown) => {
  expect(literal(text)).toBe(markdown);
});

test('a bar does not begin another cell', () => {
  expect(literalCell('a|b')).toBe('`a\\|b`');
});

test("a delivery's title shows the identifier literally", () => {
  const title = (entityId: string) => deliveryTitle({ eventType: 'CREATE_ORDER', entityId, webhookId: 7 });
  expect(title('10001')).toBe('CREATE_ORDER 10001 → webhook 7');
  expect(title('[x](http://e.example)')).toBe('CREATE_ORDER `[x](http://e.example)` → webhook 7');
});
