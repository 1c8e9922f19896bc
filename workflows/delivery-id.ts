/** What the workflow of a delivery is called (docs/decisions/0130). */
import type { EventType } from '../src/domain/event-types.ts';

/** What the id of a delivery's workflow is made of; none of it ever changes once the delivery has been handed over. */
export interface NamedDelivery {
  readonly id: string;
  readonly webhookId: number;
  readonly eventType: EventType;
  readonly entityId: string;
}

const PREFIX = 'delivery/';
/** What Temporal's tables hold of a workflow id on Postgres and MySQL, in characters. */
const LONGEST = 255;

/**
 * `delivery/<webhook id>/<type>/<entity id>/<delivery id>`, the entity id percent-encoded, and cut where it is too long: the
 * delivery id behind it tells one from the other.
 */
export function deliveryWorkflowId({ id, webhookId, eventType, entityId }: NamedDelivery): string {
  const head = `${PREFIX}${webhookId}/${eventType}/`;
  const tail = `/${id}`;
  return `${head}${encoded(entityId, LONGEST - head.length - tail.length)}${tail}`;
}

/** The id of the delivery whose workflow this is; null where it is no delivery's. */
export function deliveryIdOf(workflowId: string): string | null {
  return workflowId.startsWith(PREFIX) ? workflowId.slice(workflowId.lastIndexOf('/') + 1) : null;
}

/** Percent-encoded, as many whole characters as fit. */
function encoded(text: string, most: number): string {
  let fitting = '';
  for (const character of text) {
    const next = fitting + encodedCharacter(character);
    if (next.length > most) break;
    fitting = next;
  }
  return fitting;
}

/** Of what `encodeURIComponent` leaves, an apostrophe would end a text in a query. */
function encodedCharacter(character: string): string {
  if (character === "'") return '%27';
  // Half a surrogate pair has no encoding.
  return /^\p{Surrogate}$/u.test(character) ? '%EF%BF%BD' : encodeURIComponent(character);
}
