/** The response to a request, and the part of it that becomes the result of an attempt. */
import type { Dispatcher } from 'undici';
import { decodedStart, isEncoded } from './decode.ts';
import { withoutEchoes } from './echo.ts';
import { EXCERPT_BYTES, safeExcerpt } from './excerpt.ts';
import { statusMessage } from './failure-message.ts';
import { refusingFirewall } from './firewall.ts';
import type { AttemptRequest } from './request.ts';
import { usefulHeaders } from './response-headers.ts';
import { parseRetryAfter } from './retry-after.ts';

export type AttemptResult = {
  /** With `internal`: nothing failed, but the e-shop had too many lookups under way. Do not retry at once. */
  readonly lookupsFull?: true;
  /** The HTTP status; null if none arrived. */
  readonly status: number | null;
  /** Whole milliseconds until status line and headers had arrived, or until the failure. */
  readonly durationMs: number;
  /** Milliseconds until the request began to leave; absent if no connection was made. */
  readonly sentMs?: number;
  /** The first 1 KiB of the response's body as safe text; null if there was none. */
  readonly responseExcerpt: string | null;
  /** The wait that a 429 or 503 asked for with `Retry-After`, in milliseconds after the response; else null. */
  readonly retryAfterMs: number | null;
  /** The headers of the response to a test delivery that help to find a fault. */
  readonly responseHeaders?: Readonly<Record<string, string>>;
  /** The `traceparent` sent to the receiver; absent if traces are off. */
  readonly traceparent?: string;
} & (
  | { readonly outcome: 'success'; readonly error: null }
  | {
      /**
       * `gone`: the receiver answered 410 and wants no more deliveries. `internal`: Waybill itself failed (resolver,
       * file descriptors, no route at all), which says nothing about the receiver and uses up no attempt.
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
/** The parts of the request that are needed to read the response. */
export type Exchanged = Pick<AttemptRequest, 'timeoutMs' | 'test' | 'staticHeaders' | 'at'>;

export type Answer = ReturnType<typeof createAnswer>;

/** A response whose status line and headers have arrived: its result is settled, except for the excerpt. */
export function createAnswer(
  request: Exchanged,
  host: string,
  { statusCode: status, headers }: Pick<Dispatcher.ResponseData, 'statusCode' | 'headers'>,
  times: Pick<AttemptResult, 'durationMs' | 'sentMs'>,
) {
  /** Masks parts that must not be kept. */
  const hide = withoutEchoes(request.staticHeaders);
  const shown = request.test === true ? { responseHeaders: usefulHeaders(headers, hide) } : {};
  const encoding = first(headers['content-encoding'])?.trim().toLowerCase() ?? '';
  const contentType = first(headers['content-type']) ?? '';
  const retryAfterMs =
    status === 429 || status === 503
      ? parseRetryAfter(first(headers['retry-after']), request.at.getTime() + times.durationMs)
      : null;
  const chunks: Uint8Array[] = [];
  const maxBytes = isEncoded(encoding) ? BODY_BYTES : EXCERPT_BYTES;
  let length = 0;
  return {
    /** Takes a piece of the body; false once enough has been read. */
    take(chunk: Uint8Array): boolean {
      if (length < maxBytes) chunks.push(Uint8Array.prototype.slice.call(chunk, 0, maxBytes - length));
      length += chunk.length;
      return length < BODY_BYTES;
    },
    result: async (): Promise<AttemptResult> => {
      const bytes = await decodedStart(Buffer.concat(chunks), encoding, EXCERPT_BYTES);
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
