import type { Sql } from '../connection/pool.ts';

/** What people know a webhook by. */
export interface NamedWebhook {
  readonly id: number;
  readonly url: string;
  readonly description: string | null;
  readonly deleted: boolean;
}

/** These webhooks, deleted ones too. @param ids of e-shops whose pages name them */
export async function findNamedWebhooks(sql: Sql, ids: readonly number[]): Promise<NamedWebhook[]> {
  if (ids.length === 0) return [];
  return await sql<NamedWebhook[]>`
    select id, url, description, deleted_at is not null as deleted from webhooks where id = any(${[...new Set(ids)]}::int[])`;
}
