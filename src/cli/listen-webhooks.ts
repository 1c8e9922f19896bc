/** The webhooks of `waybill listen`: removed when it ends, or by the next listener if it was killed. */
import { hostname } from 'node:os';
import * as v from 'valibot';
import { readContract } from '../db/eshops.ts';
import type { Pool } from '../db/pool.ts';
import { deleteWebhook } from '../db/webhooks/change.ts';
import { createWebhook } from '../db/webhooks/create.ts';
import { listWebhooks } from '../db/webhooks/webhooks.ts';
import { contractOf, contractProblems } from '../domain/contract.ts';
import { type EventType, eventTypeNames } from '../domain/event-types.ts';
import { settled, type WebhookInput, webhookInputSchema } from '../domain/webhook.ts';
import { counted } from '../domain/words.ts';
import { isAlive } from '../embedded/processes.ts';
import { UserError } from '../lib/user-error.ts';
import type { Keys } from '../secrets/keys.ts';
import { sealing } from '../secrets/static-headers.ts';

export interface OwnWebhook {
  readonly id: number;
  readonly type: EventType;
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
export async function removeLeftBehind(sql: Pool, eshopId: number): Promise<number> {
  let removed = 0;
  for (const { id, description } of await listWebhooks(sql, eshopId, null)) {
    if (description === null || !description.startsWith(PREFIX)) continue;
    if (await isAlive(Number(description.slice(PREFIX.length)))) continue;
    if (await deleteWebhook(sql, eshopId, id)) removed += 1;
  }
  return removed;
}

/**
 * Registers one webhook for each type.
 * @param made called with each, so that those created before a failure can be removed
 * @throws UserError with the reason if the contract of the e-shop does not allow one
 */
export async function register(
  sql: Pool,
  keys: Keys,
  { eshopId, types, secret, ...form }: Registration,
  made: (webhook: OwnWebhook) => void,
): Promise<void> {
  const contract = contractOf(await readContract(sql, eshopId));
  const wanted = types ?? contract.webhookTypes ?? eventTypeNames;
  for (const webhookType of wanted) {
    const description = `${PREFIX}${process.pid}`;
    const input = settled(v.parse(webhookInputSchema, { ...form, webhookType, active: true, description }));
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
        `The contract of e-shop ${eshopId} allows at most ${counted(contract.maxWebhooks, 'webhook')}: name fewer types with --type.`,
      );
    }
    made({ id: row.id, type: webhookType });
  }
}

/** Removes webhooks. @returns those that could not be removed */
export async function unregister(
  sql: Pool,
  eshopId: number,
  webhooks: readonly OwnWebhook[],
): Promise<OwnWebhook[]> {
  const left: OwnWebhook[] = [];
  for (const webhook of webhooks) {
    await deleteWebhook(sql, eshopId, webhook.id).catch(() => left.push(webhook));
  }
  return left;
}
