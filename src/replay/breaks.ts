/** Replays histories against one build of the workflow code, and finds the point at which that departs from one. */
import type { HistoryAndWorkflowId } from '@temporalio/client';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { Worker, type WorkflowBundleOption } from '@temporalio/worker';

/** The maximum length of a message of the SDK. */
const MAX_MESSAGE_CHARS = 300;

/**
 * The position of the first event with which workflow code can disagree; -1 if no worker has decided anything yet.
 * The SDK would wait forever for the first decision of such a history.
 */
function firstDecision({ events }: History): number {
  return events?.findIndex((event) => event.workflowTaskCompletedEventAttributes) ?? -1;
}

/** A worker that replays, without a server. It is created with the first replay. */
export function startReplayer(workflowBundle: WorkflowBundleOption) {
  let pending: HistoryAndWorkflowId | undefined;
  async function* histories(): AsyncGenerator<HistoryAndWorkflowId> {
    while (pending !== undefined) {
      const next = pending;
      pending = undefined;
      yield next;
    }
  }
  // The SDK asks for the next history only when the next result is asked for.
  const results = Worker.runReplayHistories({ workflowBundle }, histories());
  return {
    /** The error of Temporal's SDK; undefined if the history replays. One call at a time. */
    async replay(workflowId: string, history: History): Promise<Error | undefined> {
      if (firstDecision(history) < 0) return undefined;
      pending = { workflowId, history };
      const { done, value } = await results.next();
      if (done === true) throw new Error(`The history of ${workflowId} was not replayed.`);
      return value.error;
    },
    async close(): Promise<void> {
      await results.return?.();
    },
  };
}

/** The first event of a history that the code does not lead to. */
export type Break = NonNullable<Awaited<ReturnType<typeof breakOf>>>;

/**
 * Replays a history; if that fails, finds the event. The SDK names it only for some failures, so a binary search
 * finds the shortest beginning of the history that fails.
 */
export async function breakOf(
  replayer: ReturnType<typeof startReplayer>,
  workflowId: string,
  history: History,
) {
  let error = await replayer.replay(workflowId, history);
  if (error === undefined) return undefined;
  const events = history.events ?? [];
  let replays = firstDecision(history);
  let breaks = events.length;
  while (breaks - replays > 1) {
    const length = Math.floor((replays + breaks) / 2);
    const sooner = await replayer.replay(workflowId, { ...history, events: events.slice(0, length) });
    if (sooner === undefined) replays = length;
    else {
      breaks = length;
      error = sooner;
    }
  }
  return { eventId: Number(events[breaks - 1]?.eventId ?? 0), details: messageOf(error) };
}

/** The sentence of the SDK's core within the error of a replay; the error if the code throws one. */
function messageOf({ message }: Error): string {
  const [, quoted] = /Failure \{ message: "((?:[^"\\]|\\.)*)"/s.exec(message) ?? [];
  return (quoted ?? message)
    .replace(/^\[\w+\] Nondeterminism error: /, '')
    .replaceAll(/\\(["'\\])/g, '$1')
    .replaceAll('\\n', ' ')
    .slice(0, MAX_MESSAGE_CHARS);
}
