/** The names of webhooks on a page. */
import { findNamedWebhooks, type NamedWebhook } from '../../db/console/named-webhooks.ts';
import { nameOf } from '../../domain/webhook-name.ts';
import type { ConsoleDeps } from '../deps.ts';
import { CONSOLE } from '../session.ts';

/** The webhooks that a page names, by id. */
export type WebhookNames = ReadonlyMap<number, { readonly name: string; readonly deleted: boolean }>;

/** Two of the same name also get their numbers. */
export function namesOf(
  webhooks: readonly (Omit<NamedWebhook, 'deleted'> & { deleted?: boolean })[],
): WebhookNames {
  const named = webhooks.map((webhook) => ({ ...webhook, name: nameOf(webhook) }));
  return new Map(
    named.map(({ id, name, deleted = false }) => {
      const shared = named.some((other) => other.id !== id && other.name === name);
      return [id, { name: shared ? `${name} #${id}` : name, deleted }];
    }),
  );
}

/** The names of the webhooks of these deliveries, outcomes or notices. */
export async function namesIn(
  sql: ConsoleDeps['sql'],
  items: readonly { readonly webhookId: number | null }[],
): Promise<WebhookNames> {
  const ids = items.flatMap(({ webhookId }) => webhookId ?? []);
  return namesOf(await findNamedWebhooks(sql, ids));
}

/** A link to a webhook by its name; a deleted one has no page. */
export function WebhookLink({ id, names }: { id: number; names: WebhookNames }) {
  const { name, deleted } = names.get(id) ?? { name: `webhook ${id}`, deleted: false };
  if (deleted) return <span class="wrap">{name} (deleted)</span>;
  return (
    <a class="wrap" href={`${CONSOLE}/webhooks/${id}`}>
      {name}
    </a>
  );
}
