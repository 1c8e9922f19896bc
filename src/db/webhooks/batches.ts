/** Batches in the database: the execution that holds one, its open deliveries, its result. */
import { v7 as uuidv7 } from 'uuid';
import type { Destination } from '../../concurrency/limits.ts';
import type { BatchResult } from '../../domain/batch-result.ts';
import { leaseEnd } from '../outbox/outbox.ts';
import type { Sql } from '../pool.ts';

/** A batch, and the execution of it that may begin attempts. */
export interface BatchRun {
  readonly id: string;
  readonly run: string;
}

/** A delivery of a batch, and its destination. */
export interface BatchedDelivery extends Destination {
  readonly id: string;
  /** The point of the trace that it comes from. */
  readonly traceparent: string | null;
}

/**
 * The open deliveries of a batch in round-robin order: every e-shop's first before any e-shop's second, and within an e-shop
 * every webhook's oldest before any second.
 */
export async function openInBatch(sql: Sql, batchId: string): Promise<BatchedDelivery[]> {
  return await sql<BatchedDelivery[]>`
    select d.id, d.eshop_id, d.webhook_id, d.traceparent, w.url
    from (
      select id, eshop_id, webhook_id, traceparent, row_number() over (partition by webhook_id order by id) as turn
      from deliveries where batch_id = ${batchId} and state in ('pending', 'retrying')) d
    join webhooks w on w.id = d.webhook_id
    order by row_number() over (partition by d.eshop_id order by d.turn, d.id), d.id`;
}

/** How long an ended batch is kept. */
const KEPT = '1 hour';

/** Takes a batch for one execution: from now on no other may begin its attempts. Also deletes batches that ended long ago. */
export async function takeBatch(sql: Sql, id: string): Promise<BatchRun> {
  const run = uuidv7();
  await sql`
    with forgotten as (delete from batches where finished_at < now() - ${KEPT}::interval and id <> ${id})
    insert into batches (id, run) values (${id}, ${run})
    on conflict (id) do update set run = excluded.run, finished_at = null`;
  return { id, run };
}

/** Renews the claim on deliveries that the batch has not begun, as long as this execution holds it. */
export async function renewBatch(sql: Sql, { id, run }: BatchRun): Promise<void> {
  await sql`
    update deliveries set claimed_until = ${leaseEnd(sql)}
    where batch_id = ${id} and state in ('pending', 'retrying') and dispatched_at is null
      and exists (select from batches where id = ${id} and run = ${run})`;
}

/** Counts the results of a batch; if none is open any more, it has ended. */
export async function countBatch(sql: Sql, id: string): Promise<BatchResult> {
  const [row] = await sql<BatchResult[]>`
    with open as (
      select count(*)::int as left from deliveries where batch_id = ${id} and state in ('pending', 'retrying'))
    update batches set finished_at = case when open.left = 0 then now() end
    from open where id = ${id}
    returning delivered, requeued, deferred, open.left`;
  return row ?? { delivered: 0, requeued: 0, deferred: 0, left: 0 };
}
