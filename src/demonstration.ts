/**
 * The demonstration e-shop of an unconfigured start: made once, its credentials kept in `DATA_DIR` with mode 0600.
 * @module
 */
import * as v from 'valibot';
import { createEshop } from './db/eshops.ts';
import type { Pool } from './db/pool.ts';
import { products } from './db/records/products.ts';
import { createMovement } from './db/records/stock-movements.ts';
import { createRecord } from './db/records/write.ts';
import { transaction } from './db/transaction.ts';
import { createUser } from './db/users.ts';
import { newProduct } from './domain/product/changes.ts';
import { newMovement } from './domain/stock/movement.ts';
import type { DataDir } from './embedded/data-dir.ts';
import { hashPassword, newPassword } from './passwords.ts';

const credentialsSchema = v.object({ username: v.string(), password: v.string() });
const demonstrationSchema = v.object({
  eshopId: v.number(),
  apiKey: v.string(),
  ...credentialsSchema.entries,
  warehouse: credentialsSchema,
});
/** What a person needs to log in: the form that `waybill eshop create --json` prints. */
export type EshopCredentials = v.InferOutput<typeof demonstrationSchema>;

/** Reads that form. @returns undefined for anything else */
export function parseCredentials(text: string | undefined): EshopCredentials | undefined {
  const result = v.safeParse(v.pipe(v.string(), v.parseJson(), demonstrationSchema), text);
  return result.success ? result.output : undefined;
}

/**
 * Creates an e-shop with one user of each role.
 * @returns everything that is shown once
 */
export async function createEshopWithUsers(
  sql: Pool,
  eshop: { readonly name: string; readonly email: string },
): Promise<EshopCredentials> {
  const [shop, warehouse] = [newPassword(), newPassword()];
  const [shopHash, warehouseHash] = [await hashPassword(shop), await hashPassword(warehouse)];
  return await transaction(sql, async (tx) => {
    const { eshopId, apiKey } = await createEshop(tx, eshop);
    await createUser(tx, { eshopId, username: 'shop', role: 'shop', passwordHash: shopHash });
    await createUser(tx, { eshopId, username: 'warehouse', role: 'warehouse', passwordHash: warehouseHash });
    return {
      eshopId,
      apiKey,
      username: 'shop',
      password: shop,
      warehouse: { username: 'warehouse', password: warehouse },
    };
  });
}

/** Products that a first order can name, and how many units of each are there. */
const PRODUCTS = [
  { sku: 'TEA-GREEN-100', name: 'Green tea, 100 g', price: '349.90', currency: 'CZK' },
  { sku: 'MUG-BLUE', name: 'Blue mug', price: '249', currency: 'CZK' },
];
const OPENING_STOCK = 100;

/** The demonstration e-shop, made on the first start. */
export async function demonstrationEshop(sql: Pool, dataDir: DataDir): Promise<EshopCredentials> {
  const known = parseCredentials(await dataDir.read('demonstration.json'));
  if (known !== undefined) return known;
  const made = await createEshopWithUsers(sql, { name: 'Demonstration', email: 'shop@example.com' });
  await transaction(sql, async (tx) => {
    const now = new Date();
    for (const product of PRODUCTS) {
      await createRecord(tx, products, made.eshopId, newProduct(product, { now }));
      const opening = {
        type: 'stock_correction',
        sku: product.sku,
        count: OPENING_STOCK,
        note: 'opening stock',
      };
      await createMovement(tx, made.eshopId, newMovement(opening));
    }
  });
  await dataDir.write('demonstration.json', `${JSON.stringify(made, null, 2)}\n`);
  return made;
}
