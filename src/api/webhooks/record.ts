/** A webhook as the API names it and shows it. */
import * as v from 'valibot';
import type { WebhookRow } from '../../db/webhooks/webhooks.ts';
import { incidentOf } from '../../domain/incident.ts';
import { notFound, type Problem } from '../../domain/problem.ts';
import type { RetryPolicy } from '../../domain/retry-policy.ts';
import { settingsOf, type WebhookRecord } from '../../domain/webhook.ts';

export const tag = 'Webhooks';
export const noSuchWebhook = 'the webhook does not exist, was deleted, or belongs to another e-shop.';

/** The path parameter of a webhook: any integer, so that one that was never given is simply not found. */
export const webhookId = v.pipe(
  v.string(),
  v.regex(/^-?\d{1,15}$/, 'must be an integer'),
  v.metadata({ jsonSchema: { type: 'integer', description: 'Identifier of the webhook.', examples: [7] } }),
  v.transform(Number),
);

export function webhookNotFound(id: number): Problem {
  return notFound(`Webhook ${id} does not exist.`);
}

/** @param policy by which its incident ends in a deactivation */
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

/** @throws Problem (404) when there is none */
export function foundRecord(policy: RetryPolicy, id: number, row: WebhookRow | null): WebhookRecord {
  if (row === null) throw webhookNotFound(id);
  return recordOf(policy, row);
}
