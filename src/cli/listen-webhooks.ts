/** The webhook of `waybill listen`: removed when it ends, or by the next listener if it was killed. */
import { hostname } from 'node:os';
import * as v from 'valibot';
import { readContract } from '../db/eshops.ts';
import type { Pool } from '../db/pool.ts';
import { deleteWebhook } from '../db/webhooks/change.ts';
import { createWebhook } from '../db/webhooks/create.ts';
import { listWebhooks } from '../db/webhooks/webhooks.ts';
import { contractOf, contractProblems } from '../domain/contract.ts';
import { type EventType, eventTypeNames } from '../domain/event-types.ts';
import { counted } from '../domain/text.ts';
import { settled, type WebhookInput, webhookInputSchema } from '../domain/webhook.ts';
import { typesOf } from '../domain/webhook-types.ts';
import { isAlive } from '../embedded/processes.ts';
import { UserError } from '../lib/user-error.ts';
import type { Keys } from '../secrets/keys.ts';
import { sealing } from '../secrets/static-headers.ts';

export interface OwnWebhook {
  readonly id: number;
  readonly types: readonly EventType[];
}

interface Registration extends Pick<WebhookInput, 'url' | 'method' | 'payloadVersion'> {
  readonly eshopId: number;
  /** Undefined: all that the contract allows. */
  readonly types: readonly EventType[] | undefined;
  readonly secret: string;
}

/** The beginning of the description, by which the webhooks of a killed process are recognized. */
const PREFIX = `waybill listen on ${hostname()}, process `;

/** Removes the webhooks left behind by earlier listeners. @returns how many */
export async function removeLeftovers(sql: Pool, eshopId: number): Promise<number> {
  let removed = 0;
  for (const { id, description } of await listWebhooks(sql, eshopId, null)) {
    if (description === null || !description.startsWith(PREFIX)) continue;
    if (await isAlive(Number(description.slice(PREFIX.length)))) continue;
    if (await deleteWebhook(sql, eshopId, id)) removed += 1;
  }
  return removed;
}

/**
 * Registers one webhook for all types.
 * @throws UserError with the reason if the contract of the e-shop does not allow it
 */
export async function register(
  sql: Pool,
  keys: Keys,
  { eshopId, types, secret, ...form }: Registration,
): Promise<OwnWebhook> {
  const contract = contractOf(await readContract(sql, eshopId));
  const [webhookType, ...additionalTypes] = types ?? contract.webhookTypes ?? eventTypeNames;
  if (webhookType === undefined)
    throw new UserError(`The contract of e-shop ${eshopId} allows no event type.`);
  const description = `${PREFIX}${process.pid}`;
  const wanted: v.InferInput<typeof webhookInputSchema> = {
    ...form,
    webhookType,
    additionalTypes,
    active: true,
    description,
  };
  const input = settled(v.parse(webhookInputSchema, wanted));
  const [problem] = contractProblems(contract, input);
  if (problem !== undefined) throw new UserError(`E-shop ${eshopId}: ${problem.message}.`);
  const row = await createWebhook(
    sql,
    eshopId,
    input,
    sealing(keys, eshopId, { secret }),
    contract.maxWebhooks,
  );
  if (row === null) {
    throw new UserError(
      `The contract of e-shop ${eshopId} allows at most ${counted(contract.maxWebhooks, 'webhook')}: delete one first.`,
    );
  }
  return { id: row.id, types: typesOf(input) };
}
