/** A webhook, as it is named and shown in the API. */
import type { WebhookRow } from '../../db/webhooks/webhooks.ts';
import { recordNumberText } from '../../domain/fields.ts';
import { incidentOf } from '../../domain/incident.ts';
import type { RetryPolicy } from '../../domain/retry-policy.ts';
import { masked } from '../../domain/static-headers.ts';
import { settingsOf, type WebhookRecord } from '../../domain/webhook.ts';

export const tag = 'Webhooks';
export const noSuchWebhook = 'the webhook does not exist, was deleted, or belongs to another e-shop.';

/** In a path or a query. */
export const webhookId = recordNumberText({ description: 'Identifier of the webhook.', examples: [7] });

/** @param policy determines when its incident ends in a deactivation */
export function recordOf(policy: RetryPolicy, row: WebhookRow): WebhookRecord {
  const { deactivatedAt: at, deactivationReason: reason } = row;
  return {
    id: row.id,
    ...settingsOf(row),
    headers: row.headerNames === null ? null : masked(row.headerNames),
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
    pausedUntil: row.pausedUntil?.toISOString() ?? null,
  };
}
