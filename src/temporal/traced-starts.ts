/** Spans for dispatches to Temporal, each part of the trace that its delivery comes from. */
import { batchWorkflowId } from '../../workflows/batch-types.ts';
import { type NewSpan, type Traces, traced, untraced } from '../traces/traces.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { BatchStarter } from './start-batch.ts';

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
    startDelivery(delivery, urgency, first) {
      const { id, traceparent } = delivery;
      if (traceparent === null) return dispatcher.startDelivery(delivery, urgency, first);
      const span = { ...handOver('deliverEvent', { 'messaging.message.id': id }), parent: traceparent };
      return traced(traces, span, () => dispatcher.startDelivery(delivery, urgency, first));
    },
  };
}

/** Traces the starts of batches. A batch has a trace of its own, with links to those of its deliveries. */
export function tracedBatches<S extends BatchStarter>(starter: S, traces: Traces): S {
  if (traces === untraced) return starter;
  return {
    ...starter,
    startBatch(batchId, deliveries, urgency) {
      const links = deliveries.flatMap(({ traceparent }) => traceparent ?? []);
      if (links.length === 0) return starter.startBatch(batchId, deliveries, urgency);
      const span = handOver('deliverBatch', {
        'messaging.message.id': batchWorkflowId(batchId),
        'messaging.batch.message_count': deliveries.length,
      });
      return traced(traces, { ...span, parent: null, links }, () =>
        starter.startBatch(batchId, deliveries, urgency),
      );
    },
  };
}
