/**
 * Decimals come back from Postgres unchanged in both versions, and a record that was read can be written again.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalCount, canonicalMoney } from '../../src/domain/decimal.ts';
import { minimalOrder, stockedProducts } from '../support/api/orders.ts';
import { firedTypes } from '../support/database/events.ts';
import { apiOfFile } from '../support/lifetimes.ts';
import { nightly } from '../support/runner/nightly.ts';

const api = await apiOfFile();
await stockedProducts(api.eshop);
await api.shop('POST', '/v21/orders', minimalOrder('exact'));

/** At most 15 digits with a limit on decimals, in the forms of a request: string or number. */
const decimal = (decimals: number, most = 10n ** 15n - 1n) =>
  fc
    .tuple(fc.bigInt({ min: 1n, max: most }), fc.integer({ min: 0, max: decimals }), fc.boolean())
    .map(([digits, scale, asNumber]) => {
      const text = digits.toString().padStart(scale + 1, '0');
      const cut = text.length - scale;
      const plain = scale === 0 ? text : `${text.slice(0, cut)}.${text.slice(cut)}`;
      // Another test covers numbers whose text has another form.
      return asNumber && !String(Number(plain)).includes('e') ? Number(plain) : plain;
    });

test('quantities, prices and rates are read back exactly as written', async () => {
  await fc.assert(
    fc.asyncProperty(decimal(6), decimal(4), decimal(0, 100n), async (quantity, unitPrice, vatRate) => {
      const orderProducts = [{ sku: 'TEA', quantity, unitPrice, vatRate }];
      const written = await api.shop('PATCH', '/v21/orders/exact', { orderProducts });
      expect(written.body.message).toBe('Order updated.');
      const exact = [canonicalCount(quantity), canonicalMoney(unitPrice), canonicalCount(vatRate)];
      const before = (await firedTypes(api.sql, api.eshop.eshopId, 'exact')).length;
      for (const version of ['v2', 'v21']) {
        const { data } = await api.shop('GET', `/${version}/orders/exact`);
        const [line] = data.orderProducts;
        const read = [line.quantity, line.unitPrice, line.vatRate];
        expect(read).toEqual(version === 'v2' ? exact : exact.map(Number));
        // Writing it back in either form changes nothing.
        expect((await api.shop('PUT', '/v21/orders/exact', data)).status).toBe(200);
      }
      expect((await firedTypes(api.sql, api.eshop.eshopId, 'exact')).length).toBe(before);
    }),
    { numRuns: nightly ? 15 : 6 },
  );
});
