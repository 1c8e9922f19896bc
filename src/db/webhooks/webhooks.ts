/**
 * Webhooks. A change that matters to open deliveries (activation, deactivation, another URL or ordering, deletion) writes one
 * outbox row in its transaction. Every change locks its row first.
 */

import { movementOf } from '../../domain/event-types.ts';
import type { StoredIncident } from '../../domain/incident.ts';
import { invalid } from '../../domain/problem.ts';
import { type GivenSettings, NO_LATEST, type Ordering, type WebhookSettings } from '../../domain/webhook.ts';
import type { SealedHeaders, SealedWebhook } from '../../secrets/static-headers.ts';
import { incidentColumns, joinIncident } from '../incidents/failures.ts';
import { enqueueWebhookChange } from '../outbox/changes.ts';
import { counted, oneRow, type Pool, type Sql } from '../pool.ts';
import { type Transaction, transaction } from '../transaction.ts';
import { rowOf, settingsColumns } from './columns.ts';
import { keepForm } from './forms.ts';

/** How long a replaced secret still signs in addition to the new one, in hours. */
const SECRET_OVERLAP_HOURS = 24;

/** A webhook as stored, without its secrets, with its last deactivation and its incident. */
export interface WebhookRow extends WebhookSettings, StoredIncident {
  readonly id: number;
  /** The names of its static headers; null without any. */
  readonly headerNames: readonly string[] | null;
  readonly registeredAt: Date;
  readonly unregisteredAt: Date | null;
  /** When its present generation began; null for the first. */
  readonly generationAt: Date | null;
  readonly deactivatedAt: Date | null;
  readonly deactivationReason: 'user' | 'retriesExhausted' | 'gone' | null;
  readonly deactivationDeliveryId: string | null;
  readonly deactivationError: string | null;
}

/** All columns of {@link WebhookRow}; the last deactivation is the one of the highest generation. */
export function selectWebhooks(sql: Sql) {
  return sql`
    select w.id, ${settingsColumns(sql, 'w')}, w.header_names, w.registered_at, w.unregistered_at, w.generation_at,
           x.at as deactivated_at, x.reason as deactivation_reason, x.delivery_id as deactivation_delivery_id,
           x.last_error as deactivation_error, ${incidentColumns(sql)}
    from webhooks w
    left join lateral (
      select at, reason, delivery_id, last_error from deactivations
      where webhook_id = w.id order by generation desc limit 1) x on true
    ${joinIncident(sql)}`;
}

/** The webhook of this e-shop, or null if there is none or it is deleted. `id` may be any integer. */
export async function findWebhook(sql: Sql, eshopId: number, id: number): Promise<WebhookRow | null> {
  const [row] = await sql<WebhookRow[]>`
    ${selectWebhooks(sql)}
    where w.id = ${id}::bigint and w.eshop_id = ${eshopId} and w.deleted_at is null`;
  return row ?? null;
}

async function readBack(tx: Sql, eshopId: number, id: number): Promise<WebhookRow> {
  const webhook = await findWebhook(tx, eshopId, id);
  if (webhook === null) throw new Error('A webhook just written is not there.');
  return webhook;
}

export async function countWebhooks(sql: Sql, eshopId: number): Promise<number> {
  return await counted(sql<{ count: number }[]>`
    select count(*)::integer as count from webhooks where eshop_id = ${eshopId} and deleted_at is null`);
}

export async function listWebhooks(
  sql: Sql,
  eshopId: number,
  page: { readonly limit: number; readonly offset: number } | null,
): Promise<WebhookRow[]> {
  return await sql<WebhookRow[]>`
    ${selectWebhooks(sql)}
    where w.eshop_id = ${eshopId} and w.deleted_at is null
    order by w.id
    ${page === null ? sql`` : sql`limit ${page.limit} offset ${page.offset}`}`;
}

/** The webhook of an e-shop with the same URL, event type and method; null if there is none. */
export async function findTwin(
  sql: Sql,
  eshopId: number,
  { url, webhookType, method }: Pick<WebhookSettings, 'url' | 'webhookType' | 'method'>,
): Promise<number | null> {
  const [row] = await sql<{ id: number }[]>`
    select id from webhooks
    where eshop_id = ${eshopId} and url = ${url} and webhook_type = ${webhookType} and method = ${method} and deleted_at is null
    order by id limit 1`;
  return row?.id ?? null;
}

/** Whether a webhook has, or had, this id: the row of a deleted one stays. */
export async function isWebhookIdUsed(sql: Sql, id: number): Promise<boolean> {
  return (await sql`select 1 from webhooks where id = ${id}`).length > 0;
}

/** The advisory lock of the sequence of webhook ids: transactions that take the next id share it. */
const GENERATOR = 7_240_512;

/**
 * The id of a new webhook. For a wanted id, the sequence is moved past it under the exclusive lock.
 * @param wanted null for the next id, which is also taken if the wanted one has been used
 */
async function numberFor(tx: Sql, wanted: number | null): Promise<number> {
  if (wanted !== null) {
    await tx`select pg_advisory_xact_lock(${GENERATOR})`;
    if (!(await isWebhookIdUsed(tx, wanted))) {
      await tx`
        select setval(s, ${wanted}::bigint) from pg_get_serial_sequence('webhooks', 'id') s
        where ${wanted}::bigint > coalesce(pg_sequence_last_value(s::regclass), 0)`;
      return wanted;
    }
  } else await tx`select pg_advisory_xact_lock_shared(${GENERATOR})`;
  const next = await oneRow(tx<{ id: number }[]>`
    select nextval(pg_get_serial_sequence('webhooks', 'id'))::integer as id`);
  return next.id;
}

/**
 * Creates a webhook.
 * @param seal encrypts its secret and its static headers for its new id
 * @returns null if the e-shop already has `maxWebhooks`
 */
export async function createWebhook(
  sql: Pool,
  eshopId: number,
  input: GivenSettings,
  seal: (webhookId: number) => SealedWebhook,
  maxWebhooks: number,
): Promise<WebhookRow | null> {
  return await transaction(sql, async (tx) => {
    await lockCreations(tx, eshopId);
    if ((await countWebhooks(tx, eshopId)) >= maxWebhooks) return null;
    return await insertWebhook(tx, eshopId, input, seal, await numberFor(tx, null));
  });
}

/**
 * As `createWebhook`, unless the e-shop already has this webhook.
 * @param wanted the id to give it, if that was never used
 * @returns the id of the existing one, as `twin`
 */
export async function importWebhook(
  sql: Pool,
  eshopId: number,
  input: GivenSettings,
  seal: (webhookId: number) => SealedWebhook,
  maxWebhooks: number,
  wanted: number | null,
): Promise<WebhookRow | { readonly twin: number } | null> {
  return await transaction(sql, async (tx) => {
    await lockCreations(tx, eshopId);
    const twin = await findTwin(tx, eshopId, input);
    if (twin !== null) return { twin };
    if ((await countWebhooks(tx, eshopId)) >= maxWebhooks) return null;
    return await insertWebhook(tx, eshopId, input, seal, await numberFor(tx, wanted));
  });
}

/** Makes creations of one e-shop wait for each other: two must not both take the last place. */
async function lockCreations(tx: Sql, eshopId: number): Promise<void> {
  await tx`select 1 from eshops where id = ${eshopId} for no key update`;
}

async function insertWebhook(
  tx: Sql,
  eshopId: number,
  input: GivenSettings,
  seal: (webhookId: number) => SealedWebhook,
  id: number,
): Promise<WebhookRow> {
  const { secret, headers, headerNames } = seal(id);
  await tx`
    insert into webhooks (id, eshop_id, secret, headers, header_names, ${settingsColumns(tx)})
    overriding system value
    select ${id}::int, ${eshopId}::int, ${secret}::bytea, ${headers}::bytea, ${namesOf(headerNames)}::text[],
           ${settingsColumns(tx)}
    from ${rowOf(tx, { ...input, ordering: input.ordering ?? 'none' })}`;
  return await readBack(tx, eshopId, id);
}

const namesOf = (names: SealedHeaders['headerNames']) => (names === null ? null : [...names]);

interface Locked {
  readonly id: number;
  readonly url: string;
  readonly headers: Buffer | null;
  readonly active: boolean;
  readonly ordering: Ordering;
  readonly generation: number;
}

async function lock(tx: Sql, eshopId: number, id: number): Promise<Locked | null> {
  const [row] = await tx<Locked[]>`
    select id, url, headers, active, ordering, generation from webhooks
    where id = ${id}::bigint and eshop_id = ${eshopId} and deleted_at is null
    for update`;
  return row ?? null;
}

/** Writes the effects of another `active`, URL or ordering: generation, times, deactivation, outbox row. */
async function applyChange(
  tx: Transaction,
  eshopId: number,
  before: Locked,
  after: { readonly active: boolean; readonly url: string; readonly ordering?: Ordering | undefined },
): Promise<void> {
  const activated = after.active && !before.active;
  const deactivated = !after.active && before.active;
  const moved = after.url !== before.url;
  const reordered = after.ordering !== undefined && after.ordering !== before.ordering;
  if (reordered) await enqueueWebhookChange(tx, eshopId, before.id);
  if (!activated && !deactivated && !moved) return;
  const generation = before.generation + (activated || moved ? 1 : 0);
  await tx`
    update webhooks
    set url = ${after.url}, active = ${after.active}, generation = ${generation},
        generation_at = ${activated || moved ? tx`clock_timestamp()` : tx`generation_at`},
        unregistered_at = ${activated ? null : deactivated ? tx`now()` : tx`unregistered_at`}
    where id = ${before.id}`;
  if (deactivated) {
    await tx`
      insert into deactivations (webhook_id, generation, reason, at) values (${before.id}, ${generation}, 'user', now())`;
  }
  if (!reordered) await enqueueWebhookChange(tx, eshopId, before.id);
}

/**
 * Activates or deactivates, if that changes anything.
 * @returns the webhook, and whether it changed; null if there is no such webhook
 */
export async function setActive(
  sql: Pool,
  eshopId: number,
  id: number,
  active: boolean,
): Promise<{ readonly webhook: WebhookRow; readonly changed: boolean } | null> {
  return await transaction(sql, async (tx) => {
    const before = await lock(tx, eshopId, id);
    if (before === null) return null;
    await applyChange(tx, eshopId, before, { active, url: before.url });
    return { webhook: await readBack(tx, eshopId, id), changed: before.active !== active };
  });
}

/**
 * Replaces all fields by those of the body; an omitted `ordering` stays.
 * @param headersAfter returns the new static headers; undefined, or omitted: they stay
 * @returns null if there is no such webhook
 * @throws Problem 400 if the ordering does not fit the body's type
 */
export async function replaceWebhook(
  sql: Pool,
  eshopId: number,
  id: number,
  input: GivenSettings,
  headersAfter?: (before: {
    readonly url: string;
    readonly headers: Buffer | null;
  }) => SealedHeaders | undefined,
): Promise<WebhookRow | null> {
  return await transaction(sql, async (tx) => {
    const before = await lock(tx, eshopId, id);
    if (before === null) return null;
    const sealed = headersAfter?.(before);
    if (sealed !== undefined) {
      await tx`
        update webhooks set headers = ${sealed.headers}, header_names = ${namesOf(sealed.headerNames)}::text[]
        where id = ${before.id}`;
    }
    const after = { ...input, ordering: input.ordering ?? before.ordering };
    if (after.ordering === 'latest' && movementOf(after.webhookType) !== null) {
      throw invalid([{ path: 'ordering', message: NO_LATEST }]);
    }
    await keepForm(tx, before.id, after);
    await tx`
      update webhooks
      set (${settingsColumns(tx)}) = (select ${settingsColumns(tx, 'x')} from ${rowOf(tx, after)} x)
      where id = ${before.id}`;
    await applyChange(tx, eshopId, before, input);
    return await readBack(tx, eshopId, id);
  });
}

/**
 * Gives a webhook a new secret, valid at once. The previous one also signs for 24 hours; the one before that ends.
 * @param overlap false to end the previous one at once
 * @returns null if there is no such webhook
 */
export async function replaceSecret(
  sql: Pool,
  eshopId: number,
  id: number,
  sealedSecret: Buffer,
  overlap: boolean,
): Promise<WebhookRow | null> {
  return await transaction(sql, async (tx) => {
    // One statement: the right-hand sides are read from the row as it was, under its lock.
    const rows = await tx`
      update webhooks
      set previous_secret = ${overlap ? tx`secret` : null},
          previous_secret_until = ${overlap ? tx`now() + make_interval(hours => ${SECRET_OVERLAP_HOURS})` : null},
          secret = ${sealedSecret}
      where id = ${id}::bigint and eshop_id = ${eshopId} and deleted_at is null
      returning id`;
    return rows.length === 0 ? null : await readBack(tx, eshopId, id);
  });
}

/** Deletes a webhook; its row stays for the records of its deliveries. False if there is no such webhook. */
export async function deleteWebhook(sql: Pool, eshopId: number, id: number): Promise<boolean> {
  return await transaction(sql, async (tx) => {
    const before = await lock(tx, eshopId, id);
    if (before === null) return false;
    await tx`update webhooks set deleted_at = now() where id = ${before.id}`;
    await enqueueWebhookChange(tx, eshopId, before.id);
    return true;
  });
}
