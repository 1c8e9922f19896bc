/** Where in which trace something happens, known to all that runs within. Where traces are off nothing ever does. */
import { AsyncLocalStorage } from 'node:async_hooks';

export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** Both and whether the trace is recorded, as W3C's header of that name says it. */
  readonly traceparent: string;
}

const places = new AsyncLocalStorage<TraceContext>();

/** Does some work at a place in a trace. */
export function within<T>(place: TraceContext, work: () => T): T {
  return places.run(place, work);
}

/** Where we are; undefined outside of every trace. */
export function currentTrace(): TraceContext | undefined {
  return places.getStore();
}
