/** The evidence of a round in the database. */
import type { Pool } from '../src/db/connection/pool.ts';
import type { StoredState } from '../src/domain/delivery-state.ts';
import type { EventType } from '../src/domain/event-types.ts';
import type { Receiver } from './receivers.ts';

/** A delivery's row. */
export interface DeliveryRow {
  readonly id: string;
  readonly webhookId: number;
  readonly eventType: EventType;
  readonly entityId: string;
  readonly state: StoredState;
  readonly attemptsMade: number;
  /** How long ago the planned attempt was due, in milliseconds; null if none is planned. */
  readonly overdueMs: number | null;
  readonly lastError: string | null;
  /** Whether it is in the queue: for an attempt, or for its workflow. */
  readonly queued: boolean;
  /** Whether Temporal has its workflow, running or ended; null if a fault has taken workflows from Temporal. */
  readonly hasWorkflow: boolean | null;
}

/** A webhook's row, with its deactivations by Waybill. */
export interface WebhookRow {
  readonly id: number;
  readonly active: boolean;
  readonly deactivations: number;
  /** When the last of them was, in milliseconds since 1970; null if there is none. */
  readonly deactivatedAt: number | null;
  /** Of these, how many are recorded as mailed. */
  readonly mailed: number;
}

/** All evidence of a round at its end. */
export interface Evidence {
  readonly receivers: readonly Receiver[];
  readonly deliveries: readonly DeliveryRow[];
  readonly webhooks: readonly WebhookRow[];
  /** The Message-IDs of the mails to the e-shop. */
  readonly mails: readonly string[];
}

/** Reads an e-shop's deliveries and webhooks. */
export async function readRows(
  sql: Pool,
  eshopId: number,
): Promise<{
  readonly deliveries: readonly Omit<DeliveryRow, 'hasWorkflow'>[];
  readonly webhooks: readonly WebhookRow[];
}> {
  const deliveries = await sql<Omit<DeliveryRow, 'hasWorkflow'>[]>`
    select id, webhook_id, event_type, entity_id, state, attempts_made, last_error,
      dispatched_at is null as queued,
      (extract(epoch from now() - next_attempt_at) * 1000)::float8 as overdue_ms
    from deliveries where eshop_id = ${eshopId} order by id`;
  const webhooks = await sql<WebhookRow[]>`
    select w.id, w.active, count(x.*)::integer as deactivations, count(n.*) filter (where n.outcome = 'sent')::integer as mailed,
      (extract(epoch from max(x.at)) * 1000)::float8 as deactivated_at
    from webhooks w left join deactivations x on x.webhook_id = w.id and x.reason <> 'user'
    left join notices n on n.webhook_id = w.id and n.kind = 'deactivated' and n.generation = x.generation
      and n.recipient = 'email'
    where w.eshop_id = ${eshopId} group by w.id order by w.id`;
  return { deliveries, webhooks };
}
