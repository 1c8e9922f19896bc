/** New webhooks: created by a user, or imported under their former ids. */
import { type GivenSettings, withDefaults } from '../../domain/webhook.ts';
import type { SealedWebhook } from '../../secrets/static-headers.ts';
import { WEBHOOK_ID_LOCK } from '../advisory-locks.ts';
import { oneRow, type Pool, type Sql } from '../connection/pool.ts';
import { type Database, transaction } from '../transaction.ts';
import { headerNamesOf, rowOf, settingsColumns } from './columns.ts';
import { countWebhooks, findDuplicate, isWebhookIdUsed, reload, type WebhookRow } from './webhooks.ts';

/**
 * The id of a new webhook. For a wanted id, the sequence is moved past it under the exclusive lock.
 * @param webhookId null for the next id, which is also taken if the wanted one has been used
 */
async function allocateId(tx: Sql, webhookId: number | null): Promise<number> {
  if (webhookId !== null) {
    await tx`select pg_advisory_xact_lock(${WEBHOOK_ID_LOCK})`;
    if (!(await isWebhookIdUsed(tx, webhookId))) {
      await tx`
        select setval(s, ${webhookId}::bigint) from pg_get_serial_sequence('webhooks', 'id') s
        where ${webhookId}::bigint > coalesce(pg_sequence_last_value(s::regclass), 0)`;
      return webhookId;
    }
  } else await tx`select pg_advisory_xact_lock_shared(${WEBHOOK_ID_LOCK})`;
  const next = await oneRow(tx<{ id: number }[]>`
    select nextval(pg_get_serial_sequence('webhooks', 'id'))::integer as id`);
  return next.id;
}

/**
 * Creates a webhook.
 * @param seal encrypts its secret and its static headers for its new id
 * @param webhookId the id to give it, if that was never used; null for the next one
 * @returns null if the e-shop already has `maxWebhooks`
 */
export async function createWebhook(
  sql: Database,
  eshopId: number,
  input: GivenSettings,
  seal: (webhookId: number) => SealedWebhook,
  maxWebhooks: number,
  webhookId: number | null = null,
): Promise<WebhookRow | null> {
  return await transaction(sql, async (tx) => {
    await lockCreations(tx, eshopId);
    if ((await countWebhooks(tx, eshopId)) >= maxWebhooks) return null;
    const id = await allocateId(tx, webhookId);
    const { secret, headers, headerNames } = seal(id);
    await tx`
      insert into webhooks (id, eshop_id, secret, headers, header_names, ${settingsColumns(tx)})
      overriding system value
      select ${id}::int, ${eshopId}::int, ${secret}::bytea, ${headers}::bytea, ${headerNamesOf(headerNames)}::text[],
             ${settingsColumns(tx)}
      from ${rowOf(tx, withDefaults(input))}`;
    return await reload(tx, eshopId, id);
  });
}

/** Creates a webhook like `createWebhook`. If the e-shop has the same already, returns its id as `existing`. */
export async function importWebhook(
  sql: Pool,
  eshopId: number,
  input: GivenSettings,
  seal: (webhookId: number) => SealedWebhook,
  maxWebhooks: number,
  webhookId: number | null,
): Promise<WebhookRow | { readonly existing: number } | null> {
  return await transaction(sql, async (tx) => {
    await lockCreations(tx, eshopId);
    const existing = await findDuplicate(tx, eshopId, withDefaults(input));
    if (existing !== null) return { existing };
    return await createWebhook(tx, eshopId, input, seal, maxWebhooks, webhookId);
  });
}

/** Makes creations of one e-shop wait for each other: two must not both take the last place. */
async function lockCreations(tx: Sql, eshopId: number): Promise<void> {
  await tx`select 1 from eshops where id = ${eshopId} for no key update`;
}
