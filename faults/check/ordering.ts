/** Pure: compares, per record, deliveries to webhooks with an `ordering` with the order of their events' commits. */
import type { StoredState } from '../../src/domain/delivery-state.ts';
import { type Violation, violation } from './violation.ts';

/** A committed event. */
export interface CommittedEvent {
  readonly type: string;
  readonly entityId: string;
  readonly sequence: number;
}

/** A delivery to a webhook with an order. */
export interface OrderedDelivery extends CommittedEvent {
  readonly id: string;
  readonly state: StoredState;
  readonly supersededBy: string | null;
}

/** A request at the receiver, with times in milliseconds since 1970. */
export interface OrderedArrival {
  readonly deliveryId: string;
  readonly at: number;
  /** When it was answered; infinite if it was not. */
  readonly endedAt: number;
  readonly accepted: boolean;
}

/** The deliveries and requests of one receiver, of events of these types. */
export interface OrderedTraffic {
  readonly name: string;
  /** Only the latest counts. */
  readonly latest: boolean;
  readonly types: readonly string[];
  readonly deliveries: readonly OrderedDelivery[];
  readonly arrivals: readonly OrderedArrival[];
  /** Deliveries whose workflows were ended by an operator. */
  readonly canceled: ReadonlySet<string>;
}

/** Checks one receiver. @param events all events of these records */
export function checkOrder(traffic: OrderedTraffic, events: readonly CommittedEvent[]): Violation[] {
  const { name, types, deliveries } = traffic;
  const expected = events.filter(({ type }) => types.includes(type));
  const made = new Set(deliveries.map(keyOf));
  const lost = expected.filter((event) => !made.has(keyOf(event)));
  return [
    ...lost.map((event) => violation('lost', `${name}: no delivery of ${keyOf(event)}`)),
    ...deliveries.flatMap((delivery) => checkEnd(traffic, delivery)),
    ...[...new Set(deliveries.map(({ entityId }) => entityId))].flatMap((id) => checkRecord(traffic, id)),
  ];
}

const keyOf = ({ entityId, sequence, type }: CommittedEvent) => `${entityId} ${sequence} (${type})`;

function checkEnd({ name, latest, deliveries, canceled }: OrderedTraffic, delivery: OrderedDelivery) {
  const { id, state, supersededBy } = delivery;
  const what = `${name}: ${keyOf(delivery)}`;
  if (state === 'delivered' || (state === 'canceled' && canceled.has(id))) return [];
  if (state === 'pending' || state === 'retrying') return [violation('stuck', `${what} is still ${state}`)];
  if (state !== 'superseded' || !latest) return [violation('lost', `${what} ended as ${state}`)];
  const newer = deliveries.find((each) => each.id === supersededBy);
  const fits = newer?.entityId === delivery.entityId && newer.sequence > delivery.sequence;
  return fits ? [] : [violation('lost', `${what} was superseded by nothing newer`)];
}

/** Checks that the first request of each delivery of a record comes only once the delivery before it was accepted. */
function checkRecord({ name, deliveries, arrivals, canceled }: OrderedTraffic, entityId: string) {
  const found: Violation[] = [];
  const inOrder = deliveries
    .filter((delivery) => delivery.entityId === entityId)
    .sort((one, other) => one.sequence - other.sequence);
  let before: { readonly sequence: number; readonly acceptedAt: number } | undefined;
  for (const delivery of inOrder) {
    const own = arrivals.filter(({ deliveryId }) => deliveryId === delivery.id);
    const first = Math.min(...own.map(({ at }) => at));
    if (before !== undefined && first < before.acceptedAt) {
      const text = `${name}: ${keyOf(delivery)} came before ${before.sequence} was accepted`;
      found.push(violation('wrong', text));
    }
    const acceptedAt = Math.min(...own.filter(({ accepted }) => accepted).map(({ endedAt }) => endedAt));
    if (delivery.state === 'delivered' && !Number.isFinite(acceptedAt))
      found.push(
        violation('lost', `${name}: ${keyOf(delivery)} is recorded as delivered, and was not accepted`),
      );
    if (Number.isFinite(acceptedAt) && !canceled.has(delivery.id))
      before = { sequence: delivery.sequence, acceptedAt };
  }
  return found;
}
