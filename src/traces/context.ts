/** The current span, known to all code that runs within it. There is none while traces are off. */
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

/** The current span; undefined outside of every trace. */
export function currentTrace(): TraceContext | undefined {
  return traceStorage.getStore();
}
