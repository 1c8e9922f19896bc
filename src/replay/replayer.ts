/** Replays histories, one after the other, against one build of the workflow code. */
import type { HistoryAndWorkflowId } from '@temporalio/client';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { Worker, type WorkflowBundleOption } from '@temporalio/worker';

/** One worker that replays, and reaches no server. */
export interface Replayer {
  /** What Temporal's SDK says against a history; undefined where it replays. One call at a time. */
  replay(workflowId: string, history: History): Promise<Error | undefined>;
  close(): Promise<void>;
}

/**
 * The first event that any workflow code can disagree with, by its position; -1 where no worker has decided anything yet.
 * The SDK waits for ever for the first decision of a history that has none.
 */
export function firstDecision({ events }: History): number {
  return events?.findIndex((event) => event.workflowTaskCompletedEventAttributes) ?? -1;
}

/** Starts it. The worker itself is made with the first replay. */
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
