/** How webhooks are called, and were before they were replaced: what a delivery has been sent stays known. */
import type { EventForWebhook, WebhookForm } from '../../domain/payload.ts';
import type { Sql } from '../pool.ts';

/** `parameters` as the column holds them. */
export function storedParameters(tx: Sql, value: { readonly withPackingLists?: boolean | undefined } | null) {
  if (value === null) return null;
  const { withPackingLists } = value;
  return tx.json(withPackingLists === undefined ? {} : { withPackingLists });
}

/** What a replacement says of the form. */
type NextForm = Omit<WebhookForm, 'parameters'> & {
  readonly parameters: { readonly withPackingLists?: boolean | undefined } | null;
};

/**
 * Keeps the form that a webhook has had until now, where it gets another one.
 * @param tx holds the lock on the webhook's row, and has not replaced it yet
 */
export async function keepForm(tx: Sql, webhookId: number, next: NextForm): Promise<void> {
  await tx`
    insert into webhook_forms (webhook_id, until, url, method, payload_version, parameters)
    select id, clock_timestamp(), url, method, payload_version, parameters from webhooks
    where id = ${webhookId} and (url, method, payload_version, parameters) is distinct from
      (${next.url}::text, ${next.method}::text, ${next.payloadVersion}::text, ${storedParameters(tx, next.parameters)}::jsonb)`;
}

/** What a delivery carried. */
export interface SentForm extends EventForWebhook {
  /** Of a test event. */
  readonly test: boolean;
}

/**
 * The event of a delivery, and the form in which its webhook gets it: of an open delivery the present one, which the next
 * attempt takes; of one that has ended the one that its last attempt took.
 * @returns null where this e-shop has no such delivery
 */
export async function findSentForm(sql: Sql, eshopId: number, id: string): Promise<SentForm | null> {
  const [row] = await sql<SentForm[]>`
    select d.event_type, d.entity_id, e.snapshot, e.test is true as test,
           case when former.until is null then w.url else former.url end as url,
           case when former.until is null then w.method else former.method end as method,
           case when former.until is null then w.payload_version else former.payload_version end as payload_version,
           case when former.until is null then w.parameters else former.parameters end as parameters
    from deliveries d
    join webhooks w on w.id = d.webhook_id
    join events e on e.id = d.event_id
    left join lateral (
      select f.* from webhook_forms f
      where f.webhook_id = d.webhook_id and d.state not in ('pending', 'retrying')
        and f.until >= (select a.started_at from attempts a where a.delivery_id = d.id order by a.number desc limit 1)
      order by f.until limit 1) former on true
    where d.id = ${id} and d.eshop_id = ${eshopId} and w.deleted_at is null`;
  return row ?? null;
}
