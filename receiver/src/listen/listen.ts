/**
 * Follows the events of an e-shop, and sends each to a receiver on this machine. It needs no webhook, and the
 * service need not reach this machine: it only reads, so it creates, changes and marks nothing there.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { BEGINNING, type ListedEvent, type WaybillApi } from '../api.ts';
import type { Response } from '../send.ts';
import { ApiError } from '../session.ts';
import { forward, type LocalWebhook, type Prepared, prepare } from './forward.ts';

/** Milliseconds between two requests for new events. Too low: more useless requests. Too high: events come later. */
const POLL_MS = 1_000;
/** The time between two tries to reach the service or the receiver, in milliseconds, at first and at most. */
const RETRY_MS = { first: 500, most: 10_000 } as const;
/** Errors that waiting does not cure: wrong credentials, or a wrong request. */
const FINAL: readonly number[] = [400, 401, 403, 404];

/** Where the events come from, and where they go. */
export interface ListenOptions {
  readonly api: Pick<WaybillApi, 'newEvents' | 'events' | 'event'>;
  readonly webhook: LocalWebhook;
  /** Only events of these types; null for all. */
  readonly types: readonly string[] | null;
  /** Events from this time on; null for those from now on, perhaps with those of the last seconds. */
  readonly since: Date | null;
  /** Ends the listening, after the request under way. */
  readonly signal: AbortSignal;
  /** Called as soon as it follows the events. */
  onReady(): void;
  onAnswer(sent: Prepared, response: Response): Promise<void>;
  /** Called when the service or the receiver cannot be reached, or can be again, with a sentence. */
  onState(message: string): void;
}

/**
 * Listens until the signal. Events come one after the other, in the order of the feed.
 * @throws ApiError if the service refuses for good
 */
export async function listen(options: ListenOptions): Promise<void> {
  const { api, types, since, signal } = options;
  try {
    let after = since === null ? await reached(options, () => api.newEvents()) : BEGINNING;
    options.onReady();
    for (;;) {
      const page = await reached(options, () => api.events(after, since === null ? {} : { since }));
      for (const event of page.events) {
        if (types === null || types.includes(event.webhookType)) await send(options, event);
        signal.throwIfAborted();
      }
      after = page.cursor.after;
      if (!page.cursor.more) await sleep(POLL_MS, undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Sends an event as soon as the receiver listens. */
async function send(options: ListenOptions, event: ListedEvent): Promise<void> {
  const { api, webhook, signal } = options;
  const prepared = await reached(options, () => prepare(api, webhook, event));
  if (prepared === null) {
    options.onState(`Event ${event.id} is no longer kept.`);
    return;
  }
  const { host } = new URL(webhook.url);
  for (let tries = 1; ; tries += 1) {
    const response = await forward(webhook, prepared);
    if (!response.refused) {
      if (tries > 1) options.onState(`Something is listening at ${host} again.`);
      return await options.onAnswer(prepared, response);
    }
    if (tries === 1) options.onState(`Nothing is listening at ${host}: waiting, so that nothing is lost.`);
    await sleep(waitAfter(tries), undefined, { signal });
  }
}

/** Asks the service until it answers: it may be restarting, or unreachable for a while. */
async function reached<T>(
  { signal, onState }: Pick<ListenOptions, 'signal' | 'onState'>,
  ask: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    signal.throwIfAborted();
    try {
      const answer = await ask();
      if (tries > 1) onState('The service answers again.');
      return answer;
    } catch (error) {
      if (error instanceof ApiError && FINAL.includes(error.status)) throw error;
      if (tries === 1) onState(`The service does not answer (${reasonOf(error)}): waiting.`);
    }
    await sleep(waitAfter(tries), undefined, { signal });
  }
}

const waitAfter = (tries: number) => Math.min(RETRY_MS.most, RETRY_MS.first * 2 ** Math.min(tries - 1, 10));

/** `fetch` only says "fetch failed", and has the reason as its cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  return cause.message === '' && 'code' in cause ? String(cause.code) : cause.message;
}
