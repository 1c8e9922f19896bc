/**
 * Sends one attempt of a delivery and says what came of it (given.md, "Delivery rules").
 *
 * Success is any 2xx, settled when status line and headers have arrived: what the body does afterwards changes
 * nothing. Redirects are failures. The whole attempt is bounded in time, the answer in size.
 *
 * Connections are kept alive, since thousands of deliveries go to few hosts. A receiver may close an idle connection
 * at the very moment we use it, and nobody can tell then whether it read the request; such an attempt fails and is
 * retried like any other, rather than sent twice under one number. So that it stays rare, an idle connection is
 * given up before receivers usually do: after 2 s, or 2 s before the end that a receiver's `Keep-Alive` announces.
 * @module
 */
import { Agent, type Dispatcher } from 'undici';
import { createAddressGuard } from './address-guard.ts';
import { createConnector } from './connector.ts';
import { EXCERPT_BYTES, safeExcerpt } from './excerpt.ts';
import { errorSentence, INVALID_URL, statusSentence, timeoutSentence } from './failure-sentence.ts';
import { type AttemptRequest, buildRequest, type WireRequest } from './request.ts';
import { parseRetryAfter } from './retry-after.ts';

export type { AttemptRequest } from './request.ts';

/** What came of an attempt. */
export interface AttemptResult {
  /**
   * `gone`: the receiver answered 410 and wants no more. `ours`: something of ours failed (resolver, file descriptors,
   * no route at all), which says nothing about the receiver and uses up no attempt.
   */
  readonly outcome: 'success' | 'failure' | 'gone' | 'ours';
  /** The HTTP status; null when none arrived. */
  readonly status: number | null;
  /** A sentence, null after a success; names no path, query or secret of the URL. */
  readonly error: string | null;
  readonly startedAt: Date;
  /** Whole milliseconds until status line and headers had arrived, or until the failure. */
  readonly durationMs: number;
  /** The first 1 KiB of the answer's body as safe text; null when there was none. */
  readonly responseExcerpt: string | null;
  /** What a 429 or 503 asked for with `Retry-After`, in milliseconds from the answer on; else null. */
  readonly retryAfterMs: number | null;
}

/** Sends attempts. */
export interface Sender {
  /**
   * Makes one attempt. Resolves whatever receiver, DNS or network did.
   * @throws DOMException `AbortError` when `signal` aborts before an answer has arrived
   */
  send(request: AttemptRequest, signal?: AbortSignal): Promise<AttemptResult>;
  /** Waits for the attempts under way, then closes every connection. */
  close(): Promise<void>;
}

/** Settings of `createSender`. */
export interface SenderOptions {
  /** For the whole of one attempt, in milliseconds. */
  readonly timeoutMs: number;
  /** For the connection alone, in milliseconds (default 5,000). */
  readonly connectTimeoutMs?: number;
  /** Ranges exempt from the guard against private destinations. */
  readonly allowCidrs: readonly string[];
  /** Waybill's version, for `User-Agent`. */
  readonly version: string;
  /** Certificates to trust instead of Node's own, in PEM. */
  readonly ca?: string;
}

/** As much of a body is read; when it is longer, the connection is closed rather than drained. */
const BODY_BYTES = 16 * 1024;
/** The body serves the log alone; once the status is known, it gets no more time than this. */
const BODY_GRACE_MS = 2_000;
/** Idle time of a connection when the receiver announces none, and the margin before the end it announces. */
const IDLE_MS = 2_000;
const LONGEST_IDLE_MS = 30_000;

/**
 * Creates a sender with its own connections.
 * @throws TypeError when `allowCidrs` holds something that is not a range
 */
export function createSender(options: SenderOptions): Sender {
  const { timeoutMs, connectTimeoutMs = 5_000, allowCidrs, version, ca } = options;
  const agent = new Agent({
    connect: createConnector({
      guard: createAddressGuard(allowCidrs),
      timeoutMs: connectTimeoutMs,
      ...(ca === undefined ? {} : { ca }),
    }),
    keepAliveTimeout: IDLE_MS,
    keepAliveTimeoutThreshold: IDLE_MS,
    keepAliveMaxTimeout: LONGEST_IDLE_MS,
    // One clock for the whole attempt, below.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const underWay = new Set<Promise<unknown>>();

  return {
    async send(request, signal) {
      const attempt = exchange({ agent, timeoutMs, connectTimeoutMs, version }, request, signal);
      underWay.add(attempt);
      try {
        return await attempt;
      } finally {
        underWay.delete(attempt);
      }
    },
    async close() {
      await Promise.allSettled(underWay);
      await agent.destroy();
    },
  };
}

interface ExchangeSettings {
  readonly agent: Agent;
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly version: string;
}

/** One request and its answer. */
function exchange(
  { agent, timeoutMs, connectTimeoutMs, version }: ExchangeSettings,
  request: AttemptRequest,
  signal: AbortSignal | undefined,
): Promise<AttemptResult> {
  const startedAt = new Date();
  const start = performance.now();
  const elapsed = () => Math.round(performance.now() - start);
  const failure = (error: string): AttemptResult => ({
    outcome: 'failure',
    status: null,
    error,
    startedAt,
    durationMs: elapsed(),
    responseExcerpt: null,
    retryAfterMs: null,
  });

  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(aborted(signal));
    let wire: WireRequest;
    try {
      wire = buildRequest(request, startedAt, version);
    } catch {
      return resolve(failure(INVALID_URL));
    }
    const { host } = wire;
    let connection: Dispatcher.DispatchController | null = null;
    let answer: Answer | null = null;
    let settled = false;
    let graceTimer: NodeJS.Timeout | undefined;

    /** Ends the attempt; whatever still happens on the connection afterwards is of no interest. */
    const settle = (conclude: () => void) => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      clearTimeout(graceTimer);
      signal?.removeEventListener('abort', onAbort);
      conclude();
    };
    /** Ends the attempt while the connection is still in use, which therefore has to go. */
    const cut = (conclude: () => void) => {
      settle(conclude);
      connection?.abort(GIVEN_UP);
    };
    const conclude = (otherwise: () => void) =>
      answer === null ? otherwise : resolve.bind(null, answer.result());
    const onTimeout = () => cut(conclude(() => resolve(failure(timeoutSentence(host, timeoutMs)))));
    const onAbort = () => cut(conclude(() => reject(aborted(signal))));
    const timer = setTimeout(onTimeout, timeoutMs);
    signal?.addEventListener('abort', onAbort, { once: true });

    agent.dispatch(
      { origin: wire.origin, path: wire.path, method: wire.method, headers: wire.headers, body: wire.body },
      {
        onRequestStart(controller) {
          connection = controller;
          // Timed out while it still waited for its connection: then it must not go out any more.
          if (settled) controller.abort(GIVEN_UP);
        },
        onResponseStart(_controller, status, headers) {
          if (status < 200 || settled) return;
          answer = createAnswer({
            status,
            retryAfter: headers['retry-after'],
            host,
            startedAt,
            durationMs: elapsed(),
          });
          graceTimer = setTimeout(onTimeout, BODY_GRACE_MS);
        },
        onResponseData(_controller, chunk) {
          if (settled || answer === null) return;
          if (!answer.take(chunk)) cut(conclude(() => {}));
        },
        onResponseEnd() {
          settle(conclude(() => resolve(failure(errorSentence(null, { host, connectTimeoutMs })))));
        },
        onResponseError(_controller, error) {
          settle(conclude(() => resolve(failure(errorSentence(error, { host, connectTimeoutMs })))));
        },
      },
    );
  });
}

interface Answer {
  /** Takes a piece of the body; false once enough has been read. */
  take(chunk: Uint8Array): boolean;
  result(): AttemptResult;
}

interface AnswerHead {
  readonly status: number;
  readonly retryAfter: string | string[] | undefined;
  readonly host: string;
  readonly startedAt: Date;
  readonly durationMs: number;
}

/** An answer whose status line and headers have arrived: its result is settled but for the excerpt. */
function createAnswer({ status, retryAfter, host, startedAt, durationMs }: AnswerHead): Answer {
  const success = status >= 200 && status < 300;
  const header = Array.isArray(retryAfter) ? retryAfter[0] : retryAfter;
  const retryAfterMs = status === 429 || status === 503 ? parseRetryAfter(header, Date.now()) : null;
  const kept: Uint8Array[] = [];
  let length = 0;
  return {
    take(chunk) {
      if (length < EXCERPT_BYTES)
        kept.push(Uint8Array.prototype.slice.call(chunk, 0, EXCERPT_BYTES - length));
      length += chunk.length;
      return length < BODY_BYTES;
    },
    result: () => ({
      outcome: success ? 'success' : status === 410 ? 'gone' : 'failure',
      status,
      error: success ? null : statusSentence(status, host, durationMs),
      startedAt,
      durationMs,
      responseExcerpt: safeExcerpt(Buffer.concat(kept)),
      retryAfterMs,
    }),
  };
}

const GIVEN_UP = new Error('The attempt is over.');

function aborted(signal: AbortSignal | undefined): DOMException {
  return new DOMException('The attempt was interrupted.', { name: 'AbortError', cause: signal?.reason });
}
