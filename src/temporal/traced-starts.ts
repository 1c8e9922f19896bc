/** Spans for dispatches to Temporal, each part of the trace that its delivery comes from. */
import { type Traces, traced, untraced } from '../traces/traces.ts';
import type { Dispatcher } from './dispatcher.ts';

/** Traces the starts of deliveries. A delivery without a trace gets no span. */
export function tracedDispatcher<D extends Dispatcher>(dispatcher: D, traces: Traces): D {
  if (traces === untraced) return dispatcher;
  return {
    ...dispatcher,
    startDelivery(delivery, last) {
      const { id, traceparent } = delivery;
      if (traceparent === null) return dispatcher.startDelivery(delivery, last);
      const span = {
        name: 'start deliverEvent',
        kind: 'PRODUCER',
        attributes: {
          'messaging.system': 'temporal',
          'messaging.operation.name': 'start',
          'messaging.operation.type': 'send',
          'messaging.destination.name': 'deliverEvent',
          'messaging.message.id': id,
        },
        parent: traceparent,
      } as const;
      return traced(traces, span, () => dispatcher.startDelivery(delivery, last));
    },
  };
}
