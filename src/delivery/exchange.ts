/**
 * One request and its response. Success is any 2xx, decided by status line and headers regardless of the body;
 * redirects are failures. The attempt is bounded in time, the response in size.
 */
import { type Dispatcher, errors } from 'undici';
import type { ConnectionsTo } from './connections.ts';
import { decodedStart, isEncoded } from './decode.ts';
import { withoutEchoes } from './echo.ts';
import { EXCERPT_BYTES, safeExcerpt } from './excerpt.ts';
import {
  failureMessage,
  INVALID_URL,
  informationalMessage,
  stallMessage,
  statusMessage,
  timeoutMessage,
} from './failure-message.ts';
import { STALL_MS } from './fault.ts';
import { refusingFirewall } from './firewall.ts';
import { type OutboundProxy, throughProxy } from './outbound-proxy.ts';
import type { AttemptRequest, WireRequest } from './request.ts';
import { areLookupsFull } from './resolver.ts';
import { usefulHeaders } from './response-headers.ts';
import { parseRetryAfter } from './retry-after.ts';

/** The result of an attempt. */
export type AttemptResult = {
  /**
   * Of `internal`: nothing failed, but too many lookups of the e-shop were under way. It must not be retried at
   * once.
   */
  readonly lookupsFull?: true;
  /** The HTTP status; null if none arrived. */
  readonly status: number | null;
  /** Whole milliseconds until status line and headers had arrived, or until the failure. */
  readonly durationMs: number;
  /** Milliseconds until the request began to leave; absent if no connection was made. */
  readonly sentMs?: number;
  /** The first 1 KiB of the response's body as safe text; null if there was none. */
  readonly responseExcerpt: string | null;
  /** The wait that a 429 or 503 asked for with `Retry-After`, in milliseconds from the response on; else null. */
  readonly retryAfterMs: number | null;
  /** The useful headers of the response to a test delivery. */
  readonly responseHeaders?: Readonly<Record<string, string>>;
  /** The `traceparent` sent to the receiver; absent if traces are off. */
  readonly traceparent?: string;
} & (
  | { readonly outcome: 'success'; readonly error: null }
  | {
      /**
       * `gone`: the receiver answered 410 and wants no more deliveries. `internal`: Waybill itself failed
       * (resolver, file descriptors, no route at all), which says nothing about the receiver and uses up no
       * attempt.
       */
      readonly outcome: 'failure' | 'gone' | 'internal';
      /** A sentence; names no path, query or secret of the URL. */
      readonly error: string;
      /** The firewall that seems to have answered in front of the receiver; absent if none has. */
      readonly firewall?: string;
    }
);

/** The most bytes read of a body; if it is longer, the connection is closed rather than drained. */
const BODY_BYTES = 16 * 1024;
/** The body serves only the log: once the status is known, it gets no more time than this. */
const BODY_GRACE_MS = 2_000;
/** The most informational responses accepted before the final one; each costs us more than it costs the receiver. */
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

/** What it has to know of the request. */
type Exchanged = Pick<AttemptRequest, 'timeoutMs' | 'test' | 'staticHeaders' | 'at'>;

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
    /** Why there is no response, for a timer that was due after `ms`. */
    const lateFailure = (ms: number, message: string) => {
      const late = elapsed() - ms;
      return late < STALL_MS ? failure(message) : failure(stallMessage(host, late), 'internal');
    };
    let deadlineMs = timeoutMs;
    const onTimeout = () =>
      cutOff(conclude(() => resolve(lateFailure(deadlineMs, timeoutMessage(host, timeoutMs)))));
    const onAbort = () => cutOff(conclude(() => reject(aborted(signal))));
    // Handle arrived data first: this process may have been busy with something else.
    const schedule = (ms: number, next: () => void) => setTimeout(() => setImmediate(next), ms);
    const onDue = () => {
      const late = elapsed() - timeoutMs;
      if (settled || connection !== null || late >= STALL_MS) return onTimeout();
      // The request has not left: while this process was suspended its connection could not be made, and gets that
      // time now.
      deadlineMs = elapsed() + late;
      timer = schedule(late, onTimeout);
    };
    let timer = schedule(timeoutMs, onDue);
    signal?.addEventListener('abort', onAbort, { once: true });

    connectionsTo(wire.origin, request.test === true).dispatch(
      { origin: wire.origin, path: wire.path, method: wire.method, headers: wire.headers, body: wire.body },
      {
        onRequestStart(controller) {
          connection = controller;
          sent = { sentMs: performance.now() - start };
          // It timed out while waiting for its connection: it must not be sent any more.
          if (settled) return controller.abort(GIVEN_UP);
          // The timer has not fired yet: this process was suspended, or busy with something else.
          const late = elapsed() - timeoutMs;
          if (late > 0) cutOff(() => resolve(failure(stallMessage(host, late), 'internal')));
        },
        onResponseStart(_controller, status, headers) {
          if (settled) return;
          if (status < 200) {
            informational += 1;
            if (informational <= MAX_INFORMATIONAL_RESPONSES) return;
            return cutOff(() => resolve(failure(informationalMessage(host, MAX_INFORMATIONAL_RESPONSES))));
          }
          answer = createAnswer(
            request,
            host,
            { statusCode: status, headers },
            { durationMs: elapsed(), ...sent },
          );
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
                return resolve(lateFailure(connectTimeoutMs, message));
              const result = failure(message);
              // If the failure cannot be attributed, the attempt has failed all the same.
              const internal = await isInternal(error).catch(() => false);
              const lookupsFull = areLookupsFull(error) ? { lookupsFull: true as const } : {};
              resolve(internal ? { ...result, outcome: 'internal', ...lookupsFull } : result);
            }),
          );
        },
      },
    );
  });
}

interface Answer {
  /** Takes a piece of the body; false once enough has been read. */
  take(chunk: Uint8Array): boolean;
  result(): Promise<AttemptResult>;
}

/** A response whose status line and headers have arrived: its result is settled, except for the excerpt. */
function createAnswer(
  request: Exchanged,
  host: string,
  { statusCode: status, headers }: Pick<Dispatcher.ResponseData, 'statusCode' | 'headers'>,
  times: Pick<AttemptResult, 'durationMs' | 'sentMs'>,
): Answer {
  /** Masks parts that must not be kept. */
  const hide = withoutEchoes(request.staticHeaders);
  const shown = request.test === true ? { responseHeaders: usefulHeaders(headers, hide) } : {};
  const encoding = first(headers['content-encoding'])?.trim().toLowerCase() ?? '';
  const contentType = first(headers['content-type']) ?? '';
  const retryAfterMs =
    status === 429 || status === 503
      ? parseRetryAfter(first(headers['retry-after']), request.at.getTime() + times.durationMs)
      : null;
  const kept: Uint8Array[] = [];
  const most = isEncoded(encoding) ? BODY_BYTES : EXCERPT_BYTES;
  let length = 0;
  return {
    take(chunk) {
      if (length < most) kept.push(Uint8Array.prototype.slice.call(chunk, 0, most - length));
      length += chunk.length;
      return length < BODY_BYTES;
    },
    result: async () => {
      const bytes = await decodedStart(Buffer.concat(kept), encoding, EXCERPT_BYTES);
      const excerpt = safeExcerpt(bytes, contentType);
      const answered = {
        status,
        responseExcerpt: excerpt === null ? null : hide(excerpt),
        retryAfterMs,
        ...times,
        ...shown,
      };
      if (status >= 200 && status < 300) return { ...answered, outcome: 'success', error: null };
      const firewall = refusingFirewall(status, headers);
      const error = statusMessage(status, host, times.durationMs, firewall);
      const named = firewall === null ? {} : { firewall };
      return { ...answered, ...named, outcome: status === 410 ? 'gone' : 'failure', error };
    },
  };
}

const first = (header: string | string[] | undefined) => (Array.isArray(header) ? header[0] : header);

const GIVEN_UP = new Error('The attempt is over.');

function aborted(signal: AbortSignal | undefined): DOMException {
  return new DOMException('The attempt was interrupted.', { name: 'AbortError', cause: signal?.reason });
}
