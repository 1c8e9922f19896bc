/** The id of a delivery's workflow (docs/decisions/0130). */
import type { EventType } from '../src/domain/event-types.ts';

/** The parts of the id of a delivery's workflow. None of them changes once the delivery has been handed over. */
export interface NamedDelivery {
  readonly id: string;
  readonly webhookId: number;
  readonly eventType: EventType;
  readonly entityId: string;
}

const PREFIX = 'delivery/';
/** The longest workflow id in Temporal's tables on Postgres and MySQL, in characters. */
const LONGEST = 255;

/**
 * `delivery/<webhook id>/<type>/<entity id>/<delivery id>`. The entity id is percent-encoded, and cut if it is too
 * long: the delivery id keeps workflow ids distinct.
 */
export function deliveryWorkflowId({ id, webhookId, eventType, entityId }: NamedDelivery): string {
  const head = `${PREFIX}${webhookId}/${eventType}/`;
  const tail = `/${id}`;
  return `${head}${encoded(entityId, LONGEST - head.length - tail.length)}${tail}`;
}

/** The id of the delivery whose workflow has this id; null if it is not the workflow of a delivery. */
export function deliveryIdOf(workflowId: string): string | null {
  return workflowId.startsWith(PREFIX) ? workflowId.slice(workflowId.lastIndexOf('/') + 1) : null;
}

/** Percent-encodes as many whole characters as fit. */
function encoded(text: string, most: number): string {
  let fitting = '';
  for (const character of text) {
    const next = fitting + encodedCharacter(character);
    if (next.length > most) break;
    fitting = next;
  }
  return fitting;
}

/** `encodeURIComponent` leaves apostrophes, which would end a string in a query. */
function encodedCharacter(character: string): string {
  if (character === "'") return '%27';
  // Half a surrogate pair has no encoding.
  return /^\p{Surrogate}$/u.test(character) ? '%EF%BF%BD' : encodeURIComponent(character);
}
