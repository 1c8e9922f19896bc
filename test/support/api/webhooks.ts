/** Webhooks created over HTTP, and their rows in the database. */
import { expect } from 'vitest';
import type { Pool } from '../../../src/db/connection/pool.ts';
import type { Keys } from '../../../src/secrets/keys.ts';
import { eshopOfEachTest } from '../lifetimes.ts';
import type { Request, TestApi } from './api.ts';

/** The smallest valid webhook. */
export const minimalWebhook = {
  url: 'https://shop.example/hooks?order=',
  webhookType: 'CREATE_ORDER',
  active: true,
  method: 'POST',
};

/** A new e-shop for each test of the file, and the calls on its webhooks. */
export function webhooksOfEachTest(api: TestApi) {
  const { eshop, request } = eshopOfEachTest(api);
  return {
    eshop,
    request,
    create: (fields?: object) => createWebhook(request, fields),
    row: (id: number) => webhookRow(api.sql, id),
    takeChanges: () => takeSignaledWebhooks(api.sql, eshop.eshopId),
  };
}

/** Creates one and answers its record, the secret included. */
export async function createWebhook(request: Request, fields: object = {}) {
  const answer = await request('POST', '/v21/webhooks', { ...minimalWebhook, ...fields });
  expect(answer.body).toMatchObject({ statusCode: 200 });
  return answer.data;
}

/** The row, deleted or not. */
export async function webhookRow(sql: Pool, id: number) {
  const [found] = await sql`select * from webhooks where id = ${id}`;
  return found;
}

/** A secret of a row from {@link webhookRow}, opened. */
export function openedSecret(
  keys: Keys,
  row: Awaited<ReturnType<typeof webhookRow>>,
  column: 'secret' | 'previousSecret',
): string {
  return keys.decryptSecret(row?.[column], { eshopId: row?.eshopId, webhookId: row?.id });
}

/** Webhooks with changes still to be signaled to open deliveries of this e-shop; removes these changes. */
export async function takeSignaledWebhooks(sql: Pool, eshopId: number): Promise<number[]> {
  const rows = await sql<{ kind: string; webhookId: number }[]>`
    delete from changes_to_signal where eshop_id = ${eshopId} returning kind, webhook_id`;
  for (const { kind } of rows) expect(kind).toBe('webhookChanged');
  return rows.map(({ webhookId }) => webhookId);
}
