/**
 * Changes to webhooks. A change that matters to open deliveries (activation, deactivation, another URL or ordering,
 * deletion) writes one change to signal in its transaction. Every change locks the webhook's row first.
 */
import { invalid } from '../../domain/problem.ts';
import { type GivenSettings, type WebhookSettings, withDefaults } from '../../domain/webhook.ts';
import { typeProblems } from '../../domain/webhook-rules.ts';
import { OVERLAP_HOURS } from '../../domain/webhook-secret.ts';
import type { SealedHeaders } from '../../secrets/static-headers.ts';
import type { Pool } from '../connection/pool.ts';
import { enqueueWebhookChange } from '../outbox/changes.ts';
import { type Database, type Transaction, transaction } from '../transaction.ts';
import { headerNamesOf, rowOf, settingsColumns } from './columns.ts';
import { endPause } from './pause.ts';
import { keepRequestSettings } from './request-settings.ts';
import { type LockedWebhook, lockWebhook, reload, type WebhookRow } from './webhooks.ts';

interface Changed {
  readonly active: boolean;
  readonly url: string;
  readonly ordering?: WebhookSettings['ordering'];
}

/** An activation, or another URL, begins a generation. */
const begins = (before: LockedWebhook, { active, url }: Changed) =>
  (active && !before.active) || url !== before.url;
const generationAfter = (before: LockedWebhook, after: Changed) =>
  before.generation + (begins(before, after) ? 1 : 0);

/** Writes the effects of another `active`, URL or ordering: generation, times, deactivation, change to signal. */
async function applyChange(
  tx: Transaction,
  eshopId: number,
  before: LockedWebhook,
  after: Changed,
): Promise<void> {
  const activated = after.active && !before.active;
  const deactivated = !after.active && before.active;
  const reordered = after.ordering !== undefined && after.ordering !== before.ordering;
  if (reordered) await enqueueWebhookChange(tx, eshopId, before.id);
  const isNew = begins(before, after);
  if (!isNew && !deactivated) return;
  const generation = generationAfter(before, after);
  await tx`
    update webhooks
    set url = ${after.url}, active = ${after.active}, generation = ${generation},
        generation_at = ${isNew ? tx`clock_timestamp()` : tx`generation_at`},
        unregistered_at = ${activated ? null : deactivated ? tx`now()` : tx`unregistered_at`}
    where id = ${before.id}`;
  if (deactivated) {
    await endPause(tx, before.id);
    await tx`
      insert into deactivations (webhook_id, generation, reason, at) values (${before.id}, ${generation}, 'user', now())`;
  }
  if (!reordered) await enqueueWebhookChange(tx, eshopId, before.id);
}

/** Activates or deactivates. @returns the webhook, and whether it changed; null if there is no such webhook */
export async function setActive(sql: Pool, eshopId: number, id: number, active: boolean) {
  return await transaction(sql, async (tx) => {
    const before = await lockWebhook(tx, eshopId, id);
    if (before === null) return null;
    await applyChange(tx, eshopId, before, { active, url: before.url });
    return { webhook: await reload(tx, eshopId, id), changed: before.active !== active };
  });
}

/**
 * Replaces all fields by those of the body, except fields that `withDefaults` keeps.
 * @param input if its `active` is null, the webhook keeps its own
 * @param prepare called with the locked webhook: checks the input, and returns the new static headers; undefined, or
 * omitted: they stay
 * @returns null if there is no such webhook
 * @throws Problem 400 if a setting that stays does not fit the body's types
 */
export async function replaceWebhook(
  sql: Pool,
  eshopId: number,
  id: number,
  input: Omit<GivenSettings, 'active'> & { readonly active: boolean | null },
  prepare?: (tx: Transaction, before: LockedWebhook) => Promise<SealedHeaders | undefined>,
): Promise<WebhookRow | null> {
  return await transaction(sql, async (tx) => {
    const before = await lockWebhook(tx, eshopId, id);
    if (before === null) return null;
    const sealed = await prepare?.(tx, before);
    if (sealed !== undefined) {
      await tx`
        update webhooks set headers = ${sealed.headers}, header_names = ${headerNamesOf(sealed.headerNames)}::text[]
        where id = ${before.id}`;
    }
    const after = withDefaults({ ...input, active: input.active ?? before.active }, before);
    const problems = typeProblems(after);
    if (problems.length > 0) throw invalid(problems);
    await keepRequestSettings(tx, before.id, after);
    // With the generation: the version that this leaves shows the deactivation of it.
    await tx`
      update webhooks
      set (${settingsColumns(tx)}) = (select ${settingsColumns(tx, 'x')} from ${rowOf(tx, after)} x),
          generation = ${generationAfter(before, after)}
      where id = ${before.id}`;
    await applyChange(tx, eshopId, before, after);
    return await reload(tx, eshopId, id);
  });
}

/**
 * Gives a webhook a new secret, valid at once. The previous one also signs for 24 hours; the one before that ends.
 * @param overlap false to end the previous one at once
 * @returns null if there is no such webhook
 */
export async function replaceSecret(
  sql: Database,
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
          previous_secret_until = ${overlap ? tx`now() + make_interval(hours => ${OVERLAP_HOURS})` : null},
          secret = ${sealedSecret}
      where id = ${id}::bigint and eshop_id = ${eshopId} and deleted_at is null
      returning id`;
    return rows.length === 0 ? null : await reload(tx, eshopId, id);
  });
}

/** Deletes a webhook; its row stays for the records of its deliveries. False if there is no such webhook. */
export async function deleteWebhook(sql: Pool, eshopId: number, id: number): Promise<boolean> {
  return await transaction(sql, async (tx) => {
    const before = await lockWebhook(tx, eshopId, id);
    if (before === null) return false;
    // Deliveries of the webhook end now: they do not wait for the end of the pause.
    await endPause(tx, before.id);
    await tx`update webhooks set deleted_at = now() where id = ${before.id}`;
    await enqueueWebhookChange(tx, eshopId, before.id);
    return true;
  });
}
