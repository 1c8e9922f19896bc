/** The names of webhooks on a page, and sentences that name them. */
import { findNamedWebhooks, type NamedWebhook } from '../db/console/named-webhooks.ts';
import { nameOf } from '../domain/webhook-name.ts';
import type { ConsoleDeps } from './deps.ts';
import { CONSOLE } from './session.ts';
import { Time } from './times.tsx';

/** The webhooks that a page names, by id. */
export type WebhookNames = ReadonlyMap<number, { readonly name: string; readonly deleted: boolean }>;

/** Webhooks of the same name also get their numbers. */
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

const PARTS =
  /(\bwebhook \d{1,9}\b|\bdelivery [\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b|\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)/i;
/** How much of a delivery's id is shown: its end, since ids of the same time begin alike. */
const ID_CHARS = 6;

/** A sentence of the API for people: identifiers become links, and times short. */
export function Sentence({ text, names = new Map() }: { text: string; names?: WebhookNames }) {
  return (
    <>
      {text.split(PARTS).map((part, index) => {
        if (index % 2 === 0) return part;
        const [word = '', id = ''] = part.split(' ');
        if (id === '') return <Time at={part} />;
        if (word.toLowerCase() === 'webhook') return <WebhookLink id={Number(id)} names={names} />;
        return (
          <a href={`${CONSOLE}/deliveries/${id}`}>
            {word} …{id.slice(-ID_CHARS)}
          </a>
        );
      })}
    </>
  );
}
