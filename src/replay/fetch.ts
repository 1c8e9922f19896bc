/** Histories from a Temporal server, of running and ended workflows. */
import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { validate as isUuid } from 'uuid';
import { deliveryIdOf } from '../../workflows/delivery-id.ts';
import { timeOf } from '../domain/id-time.ts';
import { UserError } from '../lib/user-error.ts';
import { causeOf, isRejection } from '../temporal/rejection.ts';

/** One run of a workflow. */
export interface Run {
  readonly workflowId: string;
  readonly runId: string;
  /** It was running when it was listed. */
  readonly live: boolean;
}

export interface RunHistory extends Run {
  readonly history: History;
}

/** Deadline of one call, in milliseconds. */
const CALL_DEADLINE_MS = 20_000;
function within<T>(client: Client, call: () => Promise<T>): Promise<T> {
  return client.withDeadline(Date.now() + CALL_DEADLINE_MS, call);
}

/** The runs that a query finds; each page has a deadline of its own. */
async function* listed(client: Client, query: string, pageSize: number): AsyncGenerator<Run> {
  const found = client.workflow.list({ query, pageSize })[Symbol.asyncIterator]();
  for (;;) {
    const next = await within(client, () => found.next());
    if (next.done === true) return;
    const { workflowId, runId, status } = next.value;
    yield { workflowId, runId, live: status.name === 'RUNNING' };
  }
}

/** The number of histories fetched at the same time, and held until they are replayed. */
const TOGETHER = 8;

/** The runs that a query finds, the running ones first, then the latest; one more than `limit` if there are more. */
export async function runsFor(client: Client, query: string, limit: number): Promise<Run[]> {
  const runs: Run[] = [];
  try {
    for await (const run of listed(client, query, Math.min(limit + 1, 1_000))) {
      runs.push(run);
      if (runs.length > limit) break;
    }
  } catch (error) {
    if (!isRejection(error)) throw error;
    throw new UserError(`Temporal rejects the query ${query}: ${causeOf(error)}.`);
  }
  return runs;
}

/**
 * The latest run of a workflow.
 * @param named its id; for a delivery also `delivery/<delivery id>` or the delivery's id
 * @throws UserError if there is none
 */
export async function latestRun(client: Client, named: string): Promise<Run> {
  const run = (await runOf(client, named)) ?? (await runOfDelivery(client, deliveryIdOf(named) ?? named));
  if (run === null) throw new UserError(`Temporal has no workflow ${named}.`);
  return run;
}

async function runOf(client: Client, workflowId: string): Promise<Run | null> {
  try {
    const { runId, status } = await within(client, () => client.workflow.getHandle(workflowId).describe());
    return { workflowId, runId, live: status.name === 'RUNNING' };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}

/** How far clocks may differ, and the time within which most deliveries get their workflow, in milliseconds. */
const MAX_CLOCK_SKEW_MS = 10 * 60_000;
const STARTED_WITHIN_MS = 60 * 60_000;

/** The workflow of a delivery: its id ends with the delivery's, whose time tells where to search Temporal's list. */
async function runOfDelivery(client: Client, deliveryId: string): Promise<Run | null> {
  if (!isUuid(deliveryId)) return null;
  const createdAtMs = timeOf(deliveryId).getTime();
  const at = (ms: number) => `'${new Date(createdAtMs + ms).toISOString()}'`;
  for (const when of [
    `StartTime >= ${at(-MAX_CLOCK_SKEW_MS)} AND StartTime < ${at(STARTED_WITHIN_MS)}`,
    `StartTime >= ${at(STARTED_WITHIN_MS)}`,
  ]) {
    const query = `WorkflowType = 'deliverEvent' AND ${when}`;
    for await (const run of listed(client, query, 1_000))
      if (deliveryIdOf(run.workflowId) === deliveryId) return run;
  }
  return null;
}

/** The histories of runs, in order, without those that Temporal has removed since. */
export async function* historiesOf(client: Client, runs: readonly Run[]): AsyncGenerator<RunHistory> {
  const fetch = async (run: Run): Promise<RunHistory | undefined> => {
    const { workflowId, runId } = run;
    try {
      const history = await within(client, () => client.workflow.getHandle(workflowId, runId).fetchHistory());
      return { ...run, history };
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw error;
    }
  };
  for (let at = 0; at < runs.length; at += TOGETHER) {
    const found = await Promise.all(runs.slice(at, at + TOGETHER).map(fetch));
    yield* found.filter((each) => each !== undefined);
  }
}
