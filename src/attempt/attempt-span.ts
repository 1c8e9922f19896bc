/**
 * The span of an attempt: from the allocation of its number until its result is recorded. It belongs to the trace
 * of its delivery.
 */
import type { DeliveryForAttempt } from '../db/deliveries/attempts.ts';
import type { AttemptRecord } from '../db/deliveries/results.ts';
import type { OpenSpan, Traces } from '../traces/traces.ts';
import { phases, type ToFirstByte } from './phases.ts';

/** Begins the span of an attempt. */
export function beginAttemptSpan(
  traces: Traces,
  { id, webhookId, eventType, traceparent }: DeliveryForAttempt,
  number: number,
): OpenSpan {
  return traces.begin({
    name: `attempt ${eventType}`,
    kind: 'CONSUMER',
    parent: traceparent,
    attributes: {
      'messaging.system': 'waybill',
      'messaging.operation.name': 'attempt',
      'messaging.operation.type': 'process',
      'messaging.destination.name': eventType,
      'messaging.message.id': id,
      'waybill.webhook.id': webhookId,
      'waybill.attempt.number': number,
    },
  });
}

/** @param way of a first attempt: the time spent on each phase before its request */
export function endAttemptSpan(span: OpenSpan, record: AttemptRecord, way: ToFirstByte | null): void {
  const { outcome, status, error, nextAttemptAt } = record;
  span.set({
    'waybill.attempt.outcome': outcome,
    ...(status === null ? {} : { 'http.response.status_code': status }),
    ...(way === null
      ? {}
      : Object.fromEntries(phases.map((one) => [`waybill.first_byte.${one}_ms`, way[one]]))),
    ...(nextAttemptAt === null ? {} : { 'waybill.attempt.next_at': nextAttemptAt.toISOString() }),
  });
  if (error === null) span.end();
  else span.end({ type: status === null ? 'no_answer' : String(status), message: error });
}

/** Ends the span of an attempt that does not count. */
export function endInterrupted(span: OpenSpan): void {
  span.set({ 'waybill.attempt.outcome': 'interrupted' });
  span.end({ type: 'interrupted' });
}
