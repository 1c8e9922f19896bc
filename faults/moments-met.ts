/** The moments at which a kill has met attempts. */
import { type Client, isGrpcServiceError } from '@temporalio/client';
import type { Pool } from '../src/db/pool.ts';
import { eachLimited } from '../src/lib/each-limited.ts';
import { batchWorkflowId } from '../workflows/batch-types.ts';
import { deliveryWorkflowId, type NamedDelivery } from '../workflows/delivery-id.ts';
import type { Moment } from './moments.ts';
import type { Arrival } from './receivers.ts';

/** Temporal's progress with a workflow: not there, there, or first task completed; `attempting`: it has scheduled an attempt. */
type Story = 'none' | 'started' | 'begun' | 'attempting';

interface Row extends NamedDelivery {
  readonly batchId: string | null;
  readonly claimed: boolean;
  /** The number of its last attempt; null if there is none. */
  readonly number: number | null;
  readonly finished: boolean | null;
}

/** The gRPC status. */
const NOT_FOUND = 5;
/** Calls of Temporal under way at once. */
const CONCURRENCY = 8;

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
  const rows = await sql<Row[]>`
    select d.id, d.webhook_id, d.event_type, d.entity_id, d.batch_id, coalesce(d.claimed_until > now(), false) as claimed,
      a.number, a.finished_at is not null as finished
    from deliveries d left join lateral (
      select number, finished_at from attempts where delivery_id = d.id order by number desc limit 1) a on true
    where d.eshop_id = ${eshopId}
      and (d.dispatched_at is null or d.state in ('pending', 'retrying') or d.dispatched_at > now() - interval '1 second')`;
  const met: Moment[] = [];
  const batches = new Set<string>();
  await eachLimited(rows, CONCURRENCY, async (row) => {
    met.push(...attemptMoments(row, arrivals, at));
    const { batchId } = row;
    if (batchId !== null) return void batches.add(batchId);
    met.push(...workflowMoments(row, await storyOf(client, deliveryWorkflowId(row))));
  });
  await eachLimited([...batches], CONCURRENCY, async (id) => {
    if ((await storyOf(client, batchWorkflowId(id))) === 'started') met.push('started');
  });
  return met;
}

function attemptMoments(
  { id, claimed, number, finished }: Row,
  arrivals: readonly Arrival[],
  at: number,
): Moment[] {
  if (number === null) return claimed ? ['claimed'] : [];
  if (finished === true) return [];
  const arrival = arrivals.find((each) => each.deliveryId === id && each.number === number && each.at <= at);
  if (arrival === undefined) return ['begun'];
  return [arrival.endedAt <= at ? 'answered' : 'requested'];
}

function workflowMoments({ number, finished }: Row, story: Story): Moment[] {
  if (story === 'none') return finished === true ? ['recorded'] : [];
  if (story === 'started') return ['started'];
  return story === 'begun' && number === 1 && finished === false ? ['joining'] : [];
}

async function storyOf({ workflow }: Client, workflowId: string): Promise<Story> {
  try {
    const { events } = await workflow.getHandle(workflowId).fetchHistory();
    if (events?.some((event) => event.activityTaskScheduledEventAttributes) === true) return 'attempting';
    return events?.some((event) => event.workflowTaskCompletedEventAttributes) === true ? 'begun' : 'started';
  } catch (error) {
    if (isGrpcServiceError(error) && error.code === NOT_FOUND) return 'none';
    throw error;
  }
}
