/**
 * Histories from a Temporal server, of workflows that run and of those that have ended.
 * @module
 */
import { type Client, ServiceError } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { isRefusal } from '../temporal/refusal.ts';
import { UserError } from '../user-error.ts';

/** One run of a workflow. */
export interface Run {
  readonly workflowId: string;
  readonly runId: string;
  /** It was running when it was listed. */
  readonly live: boolean;
}

/** A run and its history. */
export interface RunHistory extends Run {
  readonly history: History;
}

/** Deadline of one call, in milliseconds. */
const CALL_DEADLINE_MS = 20_000;
/** Histories that are fetched ahead of the one that is being replayed. */
const AHEAD = 8;

/** The runs that a query finds, the running ones first, then the latest; one more than `limit` where there are more. */
export async function runsFor(client: Client, query: string, limit: number): Promise<Run[]> {
  const runs: Run[] = [];
  try {
    const found = client.workflow.list({ query, pageSize: Math.min(limit + 1, 1_000) });
    for await (const { workflowId, runId, status } of found) {
      runs.push({ workflowId, runId, live: status.name === 'RUNNING' });
      if (runs.length > limit) break;
    }
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const { cause } = error instanceof ServiceError ? error : { cause: error };
    const why = cause instanceof Error && 'details' in cause ? cause.details : cause;
    throw new UserError(`Temporal refuses the query ${query}: ${why}.`);
  }
  return runs;
}

/**
 * The latest run under a workflow id.
 * @throws UserError where there is none
 */
export async function latestRun(client: Client, workflowId: string): Promise<Run> {
  try {
    const { runId, status } = await client.workflow.getHandle(workflowId).describe();
    return { workflowId, runId, live: status.name === 'RUNNING' };
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
    throw new UserError(`Temporal has no workflow ${workflowId}.`);
  }
}

/** Their histories, in their order, without those that Temporal has removed meanwhile. */
export async function* historiesOf(client: Client, runs: readonly Run[]): AsyncGenerator<RunHistory> {
  const fetch = async (run: Run): Promise<RunHistory | undefined> => {
    const { workflowId, runId } = run;
    try {
      const history = await client.withDeadline(Date.now() + CALL_DEADLINE_MS, () =>
        client.workflow.getHandle(workflowId, runId).fetchHistory(),
      );
      return { ...run, history };
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw error;
    }
  };
  const ahead: Promise<RunHistory | undefined>[] = [];
  const left = runs.values();
  const more = () => {
    const { value, done } = left.next();
    if (done === true) return;
    const fetching = fetch(value);
    // Looked at in its turn.
    fetching.catch(() => {});
    ahead.push(fetching);
  };
  for (let index = 0; index < AHEAD; index += 1) more();
  for (let next = ahead.shift(); next !== undefined; next = ahead.shift()) {
    const found = await next;
    more();
    if (found !== undefined) yield found;
  }
}
