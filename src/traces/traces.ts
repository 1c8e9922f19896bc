/**
 * Traces as the program makes them. `start-traces.ts` decides whether they are recorded; OpenTelemetry is loaded only
 * then.
 *
 * Module traces, which imports config, lib. Begin: `context.ts` for the current trace, `open-telemetry.ts` for its
 * recording.
 */
import type { TraceContext } from './context.ts';

/** What is known of a span, by the names of OpenTelemetry's semantic conventions where these have one. Never what an e-shop sends or is sent, nor a path or query of a URL. */
type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** Links of a span: as many as OpenTelemetry's SDK keeps unless told otherwise. */
export const MAX_SPAN_LINKS = 128;

export interface NewSpan {
  /** Of few different ones: no identifiers. */
  readonly name: string;
  /** See OpenTelemetry's `SpanKind`. */
  readonly kind: 'server' | 'client' | 'producer' | 'consumer' | 'internal';
  /** The `traceparent` of what it is a part of; null: a trace of its own. Left out: the present place. */
  readonly parent?: string | null;
  /** The `traceparent` of each that it has to do with. */
  readonly links?: readonly string[];
  readonly attributes?: SpanAttributes;
}

/** What went wrong, for a span that ends by it. */
interface SpanFailure {
  /** The status of a response, or a name of few different ones. */
  readonly type: string;
  /** A sentence that may be logged. */
  readonly message?: string;
}

export interface OpenSpan {
  /** undefined where traces are off. */
  readonly context: TraceContext | undefined;
  set(attributes: SpanAttributes): void;
  rename(name: string): void;
  /** Adds what it has to do with: of all together the first {@link MAX_SPAN_LINKS}. @param to each its `traceparent` */
  link(to: readonly string[]): void;
  /** Does some work within it. */
  within<T>(work: () => T): T;
  /** Ends it; any further end is none. */
  end(failure?: SpanFailure): void;
}

export interface Traces {
  begin(span: NewSpan): OpenSpan;
}

const unrecorded: OpenSpan = {
  context: undefined,
  set() {},
  rename() {},
  link() {},
  within: (work) => work(),
  end() {},
};

/** Traces that are off. */
export const untraced: Traces = { begin: () => unrecorded };

/** A client's `traceparent`, if the client records its trace; else null: whether ours is recorded is not for the client to say. */
export function recordedBy(client: string | undefined): string | null {
  return client !== undefined && /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f][13579bdf]$/.test(client)
    ? client
    : null;
}

/**
 * Does some work within a span that ends with it.
 */
export async function traced<T>(
  traces: Traces,
  span: NewSpan,
  work: (open: OpenSpan) => Promise<T>,
): Promise<T> {
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
