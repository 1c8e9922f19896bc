/** Where the present workflow code and a history part. */
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { firstDecision, type Replayer } from './replayer.ts';
import { commandBehind, commandFound, messageOf } from './words.ts';

/** The first event of a history that the code does not lead to. */
export interface Break {
  readonly eventId: number;
  /** What the history has there. */
  readonly expected: string;
  /** What the code does instead. */
  readonly found: string;
  /** What Temporal's SDK says of it. */
  readonly details: string;
}

/**
 * Replays a history; where that fails, looks for the event. The SDK names it only for some of the ways to fail, so the
 * shortest beginning of the history that fails is looked for, by halves.
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
