/** A webhook as the API names it and shows it. */
import * as v from 'valibot';
import type { WebhookRow } from '../../db/webhooks/webhooks.ts';
import { incidentOf } from '../../domain/incident.ts';
import { notFound, type Problem } from '../../domain/problem.ts';
import type { RetryPolicy } from '../../domain/retry-policy.ts';
import { settingsOf, type WebhookRecord } from '../../domain/webhook.ts';

/** The group of its endpoints in the documentation. */
export const tag = 'Webhooks';
/** When one of its endpoints answers 404. */
export const noSuchWebhook = 'the webhook does not exist, was deleted, or belongs to another e-shop.';

/** The path parameter of a webhook: any integer, so that one that was never given is simply not found. */
export const webhookId = v.pipe(
  v.string(),
  v.regex(/^-?\d{1,15}$/, 'must be an integer'),
  v.metadata({ jsonSchema: { type: 'integer', description: 'Identifier of the webhook.', examples: [7] } }),
  v.transform(Number),
);

/** 404 for a webhook that this e-shop does not have. */
export function webhookNotFound(id: number): Problem {
  return notFound(`Webhook ${id} does not exist.`);
}

/**
 * The record of a webhook, without its secret.
 * @param policy by which its incident ends in a deactivation
 */
export function recordOf(policy: RetryPolicy, row: WebhookRow): WebhookRecord {
  const { deactivatedAt: at, deactivationReason: reason } = row;
  return {
    id: row.id,
    ...settingsOf(row),
    registeredAt: row.registeredAt.toISOString(),
    unregisteredAt: row.unregisteredAt?.toISOString() ?? null,
    lastDeactivation:
      at === null || reason === null
        ? null
        : {
            at: at.toISOString(),
            reason,
            deliveryId: row.deactivationDeliveryId,
            lastError: row.deactivationError,
          },
    incident: incidentOf(policy, row),
  };
}

/**
 * The record of a webhook that was looked for by its id.
 * @throws Problem (404) when there is none
 */
export function foundRecord(policy: RetryPolicy, id: number, row: WebhookRow | null): WebhookRecord {
  if (row === null) throw webhookNotFound(id);
  return recordOf(policy, row);
}
