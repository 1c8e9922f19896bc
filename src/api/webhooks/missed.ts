/** The events that a webhook missed while inactive, reported on activation (docs/interface.md, W18). */

import * as v from 'valibot';
import { MAX_COUNTED_ROWS } from '../../db/id-range.ts';
import type { Pool } from '../../db/pool.ts';
import { countLostEvents } from '../../db/recoveries/lost-events.ts';
import type { WebhookRow } from '../../db/webhooks/webhooks.ts';
import { component, described, time, wholeNumber } from '../../domain/fields.ts';
import { webhookRecordSchema } from '../../domain/webhook.ts';

const missed = v.pipe(
  v.object({
    since: described(
      time(),
      'When it was deactivated last, or created. After a deactivation, `recover` begins there by default.',
    ),
    count: described(
      wholeNumber(),
      `Events since then and before its activation, of the types that it had at the time, for which it has no delivery. At most ${MAX_COUNTED_ROWS} are counted.`,
    ),
  }),
  v.description('The events that it missed while it was inactive.'),
  v.metadata({ ref: 'Missed' }),
);

export const activatedWebhookSchema = component('ActivatedWebhook', {
  ...webhookRecordSchema.entries,
  missed,
});

/** @param webhook as it is after the activation */
export async function missedBy(sql: Pool, eshopId: number, webhook: WebhookRow) {
  const { id: webhookId, registeredAt, deactivatedAt, generationAt } = webhook;
  const since = deactivatedAt ?? registeredAt;
  const until = generationAt ?? registeredAt;
  const search = { eshopId, webhookId, since, until, include: ['missed'] as const };
  const { count } = await countLostEvents(sql, search, { enough: MAX_COUNTED_ROWS });
  return { since: since.toISOString(), count: Math.min(count, MAX_COUNTED_ROWS) };
}
