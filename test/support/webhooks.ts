/** Webhooks made through HTTP, and what the database knows of them. */
import { expect } from 'vitest';
import type { Pool } from '../../src/db/pool.ts';
import type { Keys } from '../../src/secrets/keys.ts';
import type { Request } from './api.ts';

/** The least a webhook needs. */
export const minimalWebhook = {
  url: 'https://shop.example/hooks?order=',
  webhookType: 'CREATE_ORDER',
  active: true,
  method: 'POST',
};

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

/** The webhooks whose changes open deliveries of this e-shop are still to be told of; forgets them. */
export async function takeToldWebhooks(sql: Pool, eshopId: number): Promise<number[]> {
  const rows = await sql<{ kind: string; webhookId: number }[]>`
    delete from outbox where eshop_id = ${eshopId} returning kind, webhook_id`;
  for (const { kind } of rows) expect(kind).toBe('webhookChanged');
  return rows.map(({ webhookId }) => webhookId);
}
