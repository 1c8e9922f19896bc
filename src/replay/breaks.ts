/** The point at which the present workflow code departs from a history. */
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { commandBehind, commandFound, messageOf } from './commands.ts';
import { firstDecision, type Replayer } from './replayer.ts';

/** The first event of a history that the code does not lead to. */
export interface Break {
  readonly eventId: number;
  /** The command in the history. */
  readonly expected: string;
  /** The command of the code instead. */
  readonly found: string;
  /** The message of Temporal's SDK. */
  readonly details: string;
}

/**
 * Replays a history; if that fails, finds the event. The SDK names it only for some failures, so a binary search
 * finds the shortest beginning of the history that fails.
 */
export async function breakOf(
  replayer: Replayer,
  workflowId: string,
  history: History,
): Promise<Break | undefined> {
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
  const event = events[breaks - 1];
  return {
    eventId: Number(event?.eventId ?? 0),
    expected: event === undefined ? '' : commandBehind(event),
    found: commandFound(error),
    details: messageOf(error),
  };
}
