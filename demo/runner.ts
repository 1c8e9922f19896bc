/** Plays a day: phases one after the other, their stories side by side, with a limit on requests per second. */
import pLimit from 'p-limit';
import pThrottle from 'p-throttle';
import * as v from 'valibot';
import { delay } from '../src/lib/poll-until.ts';
import { UserError } from '../src/lib/user-error.ts';
import type { Answer, ApiRequest, Client } from './client.ts';
import type { Phase, Step, Wait } from './steps.ts';

/** The number of stories played at the same time. */
const SIDE_BY_SIDE = 8;
/** How often a wait asks, and when it gives up if no delivery arrives, in milliseconds. */
const ASK_EVERY_MS = 300;
const GIVE_UP_AFTER_MS = 60_000;

const statusSchema = v.object({ status: v.string() });

/** How a day is played. */
export interface Pace {
  /** Requests per second, at most. */
  readonly rate: number;
  /** Ends the day: nothing is sent any more. */
  readonly signal: AbortSignal;
  /**
   * The number of deliveries that have arrived: while it grows, there is a backlog, and a wait continues. Absent if
   * nobody counts.
   */
  readonly come?: () => Promise<number>;
  /** How long a wait continues while nothing arrives, in milliseconds (default 60,000). */
  readonly giveUpAfterMs?: number;
  /** Called after every step. */
  readonly onStep: (phase: Phase, step: Step) => void;
}

/**
 * Resolves when all steps are done. The first error ends the day; it rejects when no request is in progress any more.
 * @throws UserError with that error; the signal's reason when it was aborted
 * @returns the number of requests sent
 */
export async function playDay(client: Client, phases: readonly Phase[], pace: Pace): Promise<number> {
  const failed = new AbortController();
  const signal = AbortSignal.any([pace.signal, failed.signal]);
  let requests = 0;
  const paced = pThrottle({ limit: 1, interval: 1_000 / pace.rate, signal });
  const send = paced((request: ApiRequest): Promise<Answer> => {
    signal.throwIfAborted();
    requests += 1;
    return client.send(request, signal);
  });

  async function play(step: Step): Promise<void> {
    if ('untilStatus' in step) return await reached(step);
    const { by, method, path, body } = step;
    const content = typeof body === 'function' ? body(new Date()) : body;
    await send({ by, method, path: `/v21${path}`, body: content });
  }
  async function reached({ path, untilStatus }: Wait): Promise<void> {
    const patienceMs = pace.giveUpAfterMs ?? GIVE_UP_AFTER_MS;
    const began = Date.now();
    let come = 0;
    for (let end = began + patienceMs; ; await delay(ASK_EVERY_MS, signal)) {
      const { data } = await send({ by: 'shop', method: 'GET', path: `/v21${path}` });
      const { status } = v.parse(statusSchema, data);
      if (status === untilStatus) return;
      if (Date.now() <= end) continue;
      const now = (await pace.come?.()) ?? 0;
      if (now <= come) {
        const waited = `${path} is ${status} and not ${untilStatus} after ${Math.round((Date.now() - began) / 1_000)} s`;
        throw new UserError(
          `${waited}${come > 0 ? ', and no more deliveries arrive' : ''}: is a worker running?`,
        );
      }
      come = now;
      end = Date.now() + patienceMs;
    }
  }

  const limit = pLimit(SIDE_BY_SIDE);
  for (const phase of phases) {
    const stories = phase.stories.map((story) =>
      limit(async () => {
        for (const step of story) {
          signal.throwIfAborted();
          await play(step);
          pace.onStep(phase, step);
        }
      }).catch((error: unknown) => failed.abort(error)),
    );
    await Promise.all(stories);
    signal.throwIfAborted();
  }
  return requests;
}
