import { findNamedWebhooks } from '../../db/console/named-webhooks.ts';
import type { ConsoleDeps } from '../deps.ts';
import { namesOf, type WebhookNames } from './name.tsx';

/** The names of the webhooks of these deliveries, outcomes or notices. */
export async function namesIn(
  sql: ConsoleDeps['sql'],
  items: readonly { readonly webhookId: number | null }[],
): Promise<WebhookNames> {
  const ids = items.flatMap(({ webhookId }) => webhookId ?? []);
  return namesOf(await findNamedWebhooks(sql, ids));
}
