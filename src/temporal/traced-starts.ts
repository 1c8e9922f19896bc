/** Spans for dispatches to Temporal, each part of the trace that its delivery comes from. */
import { type NewSpan, type Traces, traced, untraced } from '../traces/traces.ts';
import type { Dispatcher } from './dispatcher.ts';

function handOver(workflow: string, attributes: NewSpan['attributes']): Omit<NewSpan, 'parent' | 'links'> {
  return {
    name: `start ${workflow}`,
    kind: 'producer',
    attributes: {
      'messaging.system': 'temporal',
      'messaging.operation.name': 'start',
      'messaging.operation.type': 'send',
      'messaging.destination.name': workflow,
      ...attributes,
    },
  };
}

/** Traces the starts of deliveries. A delivery without a trace gets no span. */
export function tracedDispatcher<D extends Dispatcher>(dispatcher: D, traces: Traces): D {
  if (traces === untraced) return dispatcher;
  return {
    ...dispatcher,
    startDelivery(delivery, urgency, last) {
      const { id, traceparent } = delivery;
      if (traceparent === null) return dispatcher.startDelivery(delivery, urgency, last);
      const span = { ...handOver('deliverEvent', { 'messaging.message.id': id }), parent: traceparent };
      return traced(traces, span, () => dispatcher.startDelivery(delivery, urgency, last));
    },
  };
}
