/**
 * An installation for processes that get killed: a database, an e-shop, and the variables to start Waybill with.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { createEshopWithUsers } from '../../../src/app/accounts.ts';
import { products } from '../../../src/db/records/products.ts';
import { createRecord } from '../../../src/db/records/write.ts';
import { transaction } from '../../../src/db/transaction.ts';
import { sampleProduct } from '../../../src/domain/product/schema.ts';
import { createTestDatabase } from '../database/database.ts';

export type Installation = Awaited<ReturnType<typeof createInstallation>>;

/** The policy shrunk to milliseconds; loopback receivers are allowed. */
export const quickEnv = {
  RETRY_INITIAL_INTERVAL: '40ms',
  RETRY_COEFFICIENT: '1.1',
  // Longer than a busy machine delays its own requests; else there would be an extra attempt.
  DELIVERY_TIMEOUT: '10s',
  DELIVERY_ALLOW_CIDRS: '127.0.0.0/8,::1/128',
};

/** @param temporalAddress default: the run's own Temporal server */
export async function createInstallation(temporalAddress = inject('temporalAddress')) {
  const database = await createTestDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'waybill-data-'));
  const credentials = await createEshopWithUsers(database.sql, { name: 'Shop', email: 'shop@example.test' });
  await transaction(database.sql, (tx) =>
    createRecord(tx, products, credentials.eshopId, 'shop', { ...sampleProduct, sku: 'MUG-BLUE' }),
  );
  return {
    sql: database.sql,
    database,
    credentials,
    env: {
      ...quickEnv,
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: temporalAddress,
      TEMPORAL_TASK_QUEUE: `faults-${randomBytes(4).toString('hex')}`,
      SECRET_KEY: randomBytes(32).toString('base64'),
      DATA_DIR: dataDir,
    },
    mails: async () =>
      (await readdir(join(dataDir, 'mail')).catch(() => [])).filter((file) => file.endsWith('.eml')),
    async remove() {
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
