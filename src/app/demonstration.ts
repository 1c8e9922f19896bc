/** The demonstration e-shop of an unconfigured start. Its credentials are kept in `DATA_DIR` with mode 0600. */
import type { Pool } from '../db/connection/pool.ts';
import { products } from '../db/records/products.ts';
import { createMovement } from '../db/records/stock-movements.ts';
import { createRecord } from '../db/records/write.ts';
import { transaction } from '../db/transaction.ts';
import { productEdits } from '../domain/product/changes.ts';
import { newMovement } from '../domain/stock/movement.ts';
import type { DataDir } from '../embedded/data-dir.ts';
import { createEshopWithUsers, type EshopCredentials, parseCredentials } from './accounts.ts';

/** Products for a first order, and how many units of each are in stock. */
const PRODUCTS = [
  { sku: 'TEA-GREEN-100', name: 'Green tea, 100 g', price: '349.90', currency: 'CZK' },
  { sku: 'MUG-BLUE', name: 'Blue mug', price: '249', currency: 'CZK' },
];
const OPENING_STOCK = 100;

export async function demonstrationEshop(sql: Pool, dataDir: DataDir): Promise<EshopCredentials> {
  const stored = parseCredentials(await dataDir.read('demonstration.json'));
  if (stored !== undefined) return stored;
  const created = await createEshopWithUsers(sql, { name: 'Demonstration', email: 'shop@example.com' });
  await transaction(sql, async (tx) => {
    const now = new Date();
    for (const product of PRODUCTS) {
      await createRecord(tx, products, created.eshopId, 'service', productEdits.make(product, { now }));
      const opening = {
        type: 'stock_correction',
        sku: product.sku,
        count: OPENING_STOCK,
        note: 'opening stock',
      };
      await createMovement(tx, created.eshopId, 'service', newMovement(opening));
    }
  });
  await dataDir.write('demonstration.json', `${JSON.stringify(created, null, 2)}\n`);
  return created;
}
