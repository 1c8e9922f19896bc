import { describe, expect, test } from 'vitest';
import { render } from '../../src/domain/render.ts';

const snapshot =
  '{"id":"7","quantity":"2.50","note":"12.50","lines":[{"received":null,"price":"0.10","weight":850,"packingLists":[{"quantity":"1"}]}],"stock":{"onHold":"0","available":"1.5"},"count":"-3"}';

describe('v2', () => {
  test('with packing lists is the snapshot itself', () => {
    expect(render(snapshot, { version: 'v2', withPackingLists: true })).toBe(snapshot);
  });
  test('without packing lists omits nothing else', () => {
    expect(render(snapshot, { version: 'v2', withPackingLists: false })).toBe(
      snapshot.replace(',"packingLists":[{"quantity":"1"}]', ''),
    );
  });
});

describe('v21', () => {
  test('turns decimals by name into numbers, and changes nothing else', () => {
    expect(render(snapshot, { version: 'v21', withPackingLists: true })).toBe(
      '{"id":"7","quantity":2.5,"note":"12.50","lines":[{"received":null,"price":0.1,"weight":850,"packingLists":[{"quantity":1}]}],"stock":{"onHold":0,"available":1.5},"count":-3}',
    );
  });
  test('renders an object like its text', () => {
    for (const withPackingLists of [true, false]) {
      const options = { version: 'v21', withPackingLists } as const;
      expect(render(JSON.parse(snapshot), options)).toBe(render(snapshot, options));
    }
  });
});
