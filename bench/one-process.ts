/** All of Waybill in one process, as `npm start` runs it, on its own database beside those of the stack. */
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createDatabase } from '../src/db/connection/create-database.ts';
import { createPool } from '../src/db/connection/pool.ts';
import { freePort } from '../src/embedded/ports.ts';
import { startChild } from './children.ts';
import { firstDelivery, type Line } from './rounds.ts';
import { openShop } from './shop.ts';
import { commitsIn, type Stack } from './stack.ts';

/** A running process. */
export interface OneProcess extends Pick<Stack, 'commits'> {
  /** Opens an e-shop with one webhook for created orders, whose first delivery has arrived. */
  openLine(): Promise<Line>;
}

/**
 * Starts Waybill, with its own Temporal.
 * @param name the name of its database and its folder
 */
export async function startInOneProcess(stack: Stack, name: string): Promise<OneProcess> {
  await createDatabase(stack.env.DATABASE_URL ?? '', name);
  const database = new URL(stack.env.DATABASE_URL ?? '');
  database.pathname = `/${name}`;
  const port = await freePort();
  const directory = join(stack.directory, name);
  await mkdir(directory);
  const env = {
    DATABASE_URL: database.href,
    SECRET_KEY: randomBytes(32).toString('base64'),
    DATA_DIR: join(directory, 'data'),
    DELIVERY_ALLOW_CIDRS: '127.0.0.0/8',
    LOG_LEVEL: 'warn',
  };
  const apiUrl = `http://127.0.0.1:${port}`;
  const child = startChild('src/main.ts', { ...env, PORT: String(port) }, join(directory, 'log'));
  await stack.add(() => child.stop());
  await child.waitUntil(async () => (await fetch(`${apiUrl}/readyz`)).ok);
  const sql = createPool(database.href, 1);
  await stack.add(() => sql.end());
  return {
    commits: commitsIn(sql),
    async openLine() {
      const receiver = await stack.startReceiver();
      const shop = await openShop(sql, apiUrl);
      await stack.add(() => shop.close());
      await shop.createWebhook('CREATE_ORDER', `${receiver.url}/prompt/orders`);
      const line: Line = { shop, receiver };
      await firstDelivery(line);
      return line;
    },
  };
}
