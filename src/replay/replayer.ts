/** Replays histories, one at a time, against one build of the workflow code. */
import type { HistoryAndWorkflowId } from '@temporalio/client';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { Worker, type WorkflowBundleOption } from '@temporalio/worker';

/** A worker that replays, without a server. */
export interface Replayer {
  /** The error of Temporal's SDK; undefined if the history replays. One call at a time. */
  replay(workflowId: string, history: History): Promise<Error | undefined>;
  close(): Promise<void>;
}

/**
 * The position of the first event with which workflow code can disagree; -1 if no worker has decided anything yet.
 * The SDK would wait forever for the first decision of such a history.
 */
export function firstDecision({ events }: History): number {
  return events?.findIndex((event) => event.workflowTaskCompletedEventAttributes) ?? -1;
}

/** Starts it. The worker itself is created with the first replay. */
export function startReplayer(workflowBundle: WorkflowBundleOption): Replayer {
  let wanted: HistoryAndWorkflowId | undefined;
  async function* histories(): AsyncGenerator<HistoryAndWorkflowId> {
    while (wanted !== undefined) {
      const next = wanted;
      wanted = undefined;
      yield next;
    }
  }
  // The SDK asks for the next history only when the next result is asked for.
  const results = Worker.runReplayHistories({ workflowBundle }, histories());
  return {
    async replay(workflowId, history) {
      if (firstDecision(history) < 0) return undefined;
      wanted = { workflowId, history };
      const { done, value } = await results.next();
      if (done === true) throw new Error(`The history of ${workflowId} was not replayed.`);
      return value.error;
    },
    async close() {
      await results.return?.();
    },
  };
}
