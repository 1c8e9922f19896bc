/**
 * One request and its response. Success is any 2xx, decided by status line and headers regardless of the body;
 * redirects are failures. The attempt is bounded in time, the response in size.
 */
import { type Dispatcher, errors } from 'undici';
import { type Answer, type AttemptResult, createAnswer, type Exchanged } from './answer.ts';
import type { ConnectionsTo } from './connections.ts';
import {
  failureMessage,
  INVALID_URL,
  informationalMessage,
  stallMessage,
  timeoutMessage,
} from './failure-message.ts';
import { STALL_MS } from './fault.ts';
import type { RepeatableOptions } from './kept-client.ts';
import { type OutboundProxy, throughProxy } from './outbound-proxy.ts';
import type { WireRequest } from './request.ts';
import { areLookupsFull } from './resolver.ts';

/** The body is read only for the log: once the status is known, reading takes no longer than this. */
const BODY_GRACE_MS = 2_000;
/** The most informational responses accepted before the final one; each costs us more than the receiver. */
const MAX_INFORMATIONAL_RESPONSES = 10;
interface ExchangeSettings {
  readonly connectionsTo: ConnectionsTo;
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
  /** Makes the request. @throws TypeError if its URL is not absolute */
  readonly build: () => WireRequest;
  readonly isInternal: (error: unknown) => Promise<boolean>;
  readonly proxy?: OutboundProxy;
}

/** @throws DOMException `AbortError` if `signal` aborts before a response has arrived */
export function exchange(
  { connectionsTo, timeoutMs: longest, connectTimeoutMs, build, isInternal, proxy }: ExchangeSettings,
  request: Exchanged,
  signal: AbortSignal | undefined,
): Promise<AttemptResult> {
  const timeoutMs = Math.min(longest, request.timeoutMs ?? longest);
  const start = performance.now();
  const elapsed = () => Math.round(performance.now() - start);
  let sent: { sentMs?: number } = {};
  const failure = (error: string, outcome: 'failure' | 'internal' = 'failure') => ({
    outcome,
    status: null,
    error,
    durationMs: elapsed(),
    responseExcerpt: null,
    retryAfterMs: null,
    ...sent,
  });

  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(aborted(signal));
    let wire: WireRequest;
    try {
      wire = build();
      if (proxy !== undefined) wire = throughProxy(proxy, wire);
    } catch {
      return resolve(failure(INVALID_URL));
    }
    const { host } = wire;
    let connection: Dispatcher.DispatchController | null = null;
    let answer: Answer | null = null;
    let informational = 0;
    /** When the request was last dispatched, and began to wait for its connection. */
    let dispatchedMs = 0;
    let settled = false;
    let graceTimer: NodeJS.Timeout | undefined;

    /** Ends the attempt; later events on the connection are ignored. */
    const settle = (conclude: () => void) => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      clearTimeout(graceTimer);
      signal?.removeEventListener('abort', onAbort);
      conclude();
    };
    /** Ends the attempt while its connection is still in use, and so aborts the connection. */
    const cutOff = (conclude: () => void) => {
      if (settled) return;
      settle(conclude);
      connection?.abort(GIVEN_UP);
    };
    const conclude = (otherwise: () => void) =>
      answer === null ? otherwise : resolve.bind(null, answer.result());
    /** The failure when a timer fires that was due after `ms`. */
    const lateFailure = (ms: number, message: string) => {
      const overrunMs = elapsed() - ms;
      return overrunMs < STALL_MS ? failure(message) : failure(stallMessage(host, overrunMs), 'internal');
    };
    let deadlineMs = timeoutMs;
    const onTimeout = () =>
      cutOff(conclude(() => resolve(lateFailure(deadlineMs, timeoutMessage(host, timeoutMs)))));
    const onAbort = () => cutOff(conclude(() => reject(aborted(signal))));
    // Handle arrived data first: this process may have been busy with something else.
    const schedule = (ms: number, next: () => void) => setTimeout(() => setImmediate(next), ms);
    const onDue = () => {
      const overrunMs = elapsed() - timeoutMs;
      if (settled || connection !== null || overrunMs >= STALL_MS) return onTimeout();
      // The request has not been sent: no connection could be made while this process was suspended. Wait longer.
      deadlineMs = elapsed() + overrunMs;
      timer = schedule(overrunMs, onTimeout);
    };
    let timer = schedule(timeoutMs, onDue);
    signal?.addEventListener('abort', onAbort, { once: true });

    const { origin, path, method, headers, body } = wire;
    const onRepeat = () => {
      dispatchedMs = elapsed();
    };
    const options: RepeatableOptions = { origin, path, method, headers, body, onRepeat };
    connectionsTo(origin, request.test === true).dispatch(options, {
      onRequestStart(controller) {
        connection = controller;
        sent = { sentMs: performance.now() - start };
        // It timed out while waiting for its connection, and must not be sent any more.
        if (settled) return controller.abort(GIVEN_UP);
        // The timer has not fired yet: this process was suspended, or busy with something else.
        const overrunMs = elapsed() - timeoutMs;
        if (overrunMs > 0) cutOff(() => resolve(failure(stallMessage(host, overrunMs), 'internal')));
      },
      onResponseStart(_controller, status, headers) {
        if (settled) return;
        if (status < 200) {
          informational += 1;
          if (informational <= MAX_INFORMATIONAL_RESPONSES) return;
          return cutOff(() => resolve(failure(informationalMessage(host, MAX_INFORMATIONAL_RESPONSES))));
        }
        const times = { durationMs: elapsed(), ...sent };
        answer = createAnswer(request, host, { statusCode: status, headers }, times);
        graceTimer = setTimeout(onTimeout, BODY_GRACE_MS);
      },
      onResponseData(_controller, chunk) {
        if (settled || answer === null) return;
        if (!answer.take(chunk)) cutOff(conclude(() => {}));
      },
      onResponseEnd() {
        settle(conclude(() => resolve(failure(failureMessage(null, host, connectTimeoutMs)))));
      },
      onResponseError(_controller, error) {
        settle(
          conclude(async () => {
            const message = failureMessage(error, host, connectTimeoutMs);
            if (error instanceof errors.ConnectTimeoutError)
              return resolve(lateFailure(dispatchedMs + connectTimeoutMs, message));
            const result = failure(message);
            // Even if it is unknown whose failure it is, the attempt has failed.
            const internal = await isInternal(error).catch(() => false);
            const lookupsFull = areLookupsFull(error) ? { lookupsFull: true as const } : {};
            resolve(internal ? { ...result, outcome: 'internal', ...lookupsFull } : result);
          }),
        );
      },
    });
  });
}

const GIVEN_UP = new Error('The attempt is over.');

function aborted(signal: AbortSignal | undefined): DOMException {
  return new DOMException('The attempt was interrupted.', { name: 'AbortError', cause: signal?.reason });
}
