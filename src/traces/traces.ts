/**
 * Traces as the program makes them. `start-traces.ts` decides whether they are recorded; OpenTelemetry is loaded only
 * then.
 *
 * Module traces, which imports config, lib. Begin: this file; `open-telemetry.ts` records.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** Both ids and whether the trace is recorded, as in W3C's header of that name. */
  readonly traceparent: string;
}

export const traceStorage = new AsyncLocalStorage<TraceContext>();

/** The current span, known to all code that runs within it; undefined outside of every trace. */
export function currentTrace(): TraceContext | undefined {
  return traceStorage.getStore();
}

/** By OpenTelemetry's semantic conventions where they name it. Never an e-shop's data, nor a URL's path or query. */
type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface NewSpan {
  /** One of few names: no identifiers. */
  readonly name: string;
  /** The names of OpenTelemetry's `SpanKind`. */
  readonly kind: 'SERVER' | 'CLIENT' | 'PRODUCER' | 'CONSUMER' | 'INTERNAL';
  /** The `traceparent` of its parent; null: a new trace. Left out: the current span. */
  readonly parent?: string | null;
  readonly attributes?: SpanAttributes;
}

export interface OpenSpan {
  /** Undefined while traces are off. */
  readonly context: TraceContext | undefined;
  set(attributes: SpanAttributes): void;
  rename(name: string): void;
  /** Does some work within it. */
  within<T>(work: () => T): T;
  /**
   * Ends it; later calls have no effect.
   * @param failure `type`: the status of a response, or one of few names; `message`: a sentence that may be logged
   */
  end(failure?: { readonly type: string; readonly message?: string }): void;
}

export interface Traces {
  begin(span: NewSpan): OpenSpan;
}

const unrecorded: OpenSpan = {
  context: undefined,
  set() {},
  rename() {},
  within: (work) => work(),
  end() {},
};

/** Traces that are off. */
export const untraced: Traces = { begin: () => unrecorded };

/** A client's `traceparent` if its trace is recorded there, else null: it does not decide whether ours is. */
export function recordedBy(client: string | undefined): string | null {
  return client !== undefined && /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f][13579bdf]$/.test(client)
    ? client
    : null;
}

/** Does some work within a span that ends with it. */
export async function traced<T>(traces: Traces, span: NewSpan, work: (open: OpenSpan) => Promise<T>) {
  const open = traces.begin(span);
  try {
    const result = await open.within(() => work(open));
    open.end();
    return result;
  } catch (error) {
    open.end({ type: error instanceof Error ? error.name : 'error' });
    throw error;
  }
}
