/** The larger parts of tests: each ends with its test (`…OfTest`) or with its file (`…OfFile`). */
import { beforeEach } from 'vitest';
import { createTestApi, type Request, type TestApi, type TestEshop } from './api/api.ts';
import { createTestDatabase, type TestDatabase } from './database/database.ts';
import { insertShop } from './database/events.ts';
import { endsWithFile, endsWithTest } from './ends.ts';
import { createInstallation } from './programs/installation.ts';
import { startProgram } from './programs/program.ts';
import { startMailServer } from './servers/mail-server.ts';
import { createReceiver } from './servers/receiver.ts';
import { startDeliveryStack } from './temporal/delivery-stack.ts';

export const apiOfFile = (...args: Parameters<typeof createTestApi>) =>
  endsWithFile(createTestApi(...args), (api) => api.drop());

/** A new e-shop for each test of the file, made ready by `prepare`, and the requests of its user. */
export function eshopOfEachTest(
  api: TestApi,
  prepare: (eshop: TestEshop) => Promise<void> = async () => {},
): { readonly eshop: TestEshop; readonly request: Request } {
  let current = api.eshop;
  beforeEach(async () => {
    current = await api.newEshop();
    await prepare(current);
  });
  const eshop = {
    get eshopId() {
      return current.eshopId;
    },
    get apiKey() {
      return current.apiKey;
    },
    get shop() {
      return current.shop;
    },
    get warehouse() {
      return current.warehouse;
    },
  };
  return { eshop, request: (...args) => current.shop.request(...args) };
}

export const databaseOfFile = () => endsWithFile(createTestDatabase(), (database) => database.drop());

export const databaseOfTest = () => endsWithTest(createTestDatabase(), (database) => database.drop());

/** A new e-shop with a webhook for each test of the file, which finds these tables empty. */
export function shopOfEachTest(
  { sql }: TestDatabase,
  ...tables: string[]
): Awaited<ReturnType<typeof insertShop>> {
  const shop = { eshopId: 0, webhookId: 0 };
  beforeEach(async () => {
    if (tables.length > 0) await sql`truncate ${sql(tables)}`;
    Object.assign(shop, await insertShop(sql));
  });
  return shop;
}

export const installationOfFile = (...args: Parameters<typeof createInstallation>) =>
  endsWithFile(createInstallation(...args), (installation) => installation.remove());

export const mailServerOfTest = (...args: Parameters<typeof startMailServer>) =>
  endsWithTest(startMailServer(...args), (server) => server.close());

export const programOfFile = (...args: Parameters<typeof startProgram>) =>
  endsWithFile(startProgram(...args), (program) => program.stop());

/** It may have ended by itself, or been stopped. */
export const programOfTest = (...args: Parameters<typeof startProgram>) =>
  endsWithTest(startProgram(...args), (program) => program.kill().catch(() => {}));

export const receiverOfFile = (...args: Parameters<typeof createReceiver>) =>
  endsWithFile(createReceiver(...args), (receiver) => receiver.close());

export const receiverOfTest = (...args: Parameters<typeof createReceiver>) =>
  endsWithTest(createReceiver(...args), (receiver) => receiver.close());

export const stackOfFile = (...args: Parameters<typeof startDeliveryStack>) =>
  endsWithFile(startDeliveryStack(...args), (stack) => stack.stop());

export const stackOfTest = (...args: Parameters<typeof startDeliveryStack>) =>
  endsWithTest(startDeliveryStack(...args), (stack) => stack.stop());
