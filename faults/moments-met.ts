/** The moments at which a kill has met deliveries. */
import type { Client } from '@temporalio/client';
import type { Pool } from '../src/db/connection/pool.ts';
import { CLASS } from '../src/db/outbox/outbox.ts';
import type { NamedDelivery } from '../workflows/delivery-id.ts';
import type { Moment } from './moments.ts';
import type { Arrival } from './receivers.ts';
import { withWorkflow } from './temporal-workflows.ts';

interface Row extends NamedDelivery {
  /** Claimed for an attempt that is due. */
  readonly claimed: boolean;
  /** It is in the queue, not yet marked as having its workflow in Temporal. */
  readonly queued: boolean;
  /** The number of its last attempt; null if there is none. */
  readonly number: number | null;
  readonly finished: boolean | null;
}

/**
 * Examines the deliveries of an e-shop after a kill: they do not change until a worker runs again.
 * @param arrivals of all its receivers
 * @param at the time of the kill, in milliseconds since 1970
 */
export async function momentsMet(
  sql: Pool,
  client: Client,
  eshopId: number,
  arrivals: readonly Arrival[],
  at: number,
): Promise<Moment[]> {
  const forAttempt = [CLASS.fresh, CLASS.retry, CLASS.bulk, CLASS.recovered];
  const rows = await sql<Row[]>`
    select d.id, d.webhook_id, d.event_type, d.entity_id, d.dispatched_at is null as queued,
      coalesce(d.claimed_until > now(), false) and d.dispatched_at is null and d.class = any(${forAttempt}::smallint[])
        and d.due_at <= now() as claimed,
      a.number, a.finished_at is not null as finished
    from deliveries d left join lateral (
      select number, finished_at from attempts where delivery_id = d.id order by number desc limit 1) a on true
    where d.eshop_id = ${eshopId} and (d.dispatched_at is null or d.state in ('pending', 'retrying'))`;
  const known = await withWorkflow(
    client,
    rows.filter(({ queued }) => queued),
  );
  return rows.flatMap((row) => momentsOf(row, known.has(row.id), arrivals, at));
}

function momentsOf(
  { id, claimed, queued, number, finished }: Row,
  hasWorkflow: boolean,
  arrivals: readonly Arrival[],
  at: number,
): Moment[] {
  if (queued && hasWorkflow) return ['started'];
  if (number === null || finished === true) {
    if (claimed) return ['claimed'];
    return queued && number !== null ? ['recorded'] : [];
  }
  const arrival = arrivals.find((each) => each.deliveryId === id && each.number === number && each.at <= at);
  if (arrival === undefined) return ['begun'];
  return [arrival.endedAt <= at ? 'answered' : 'requested'];
}
