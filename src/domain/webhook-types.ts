/** The types of a webhook (docs/interface.md, W22). */
import * as v from 'valibot';
import { type EventType, eventTypeNames, eventTypes, sortedTypes } from './event-types.ts';
import { oneOf } from './fields.ts';

/** An event type, in the body or the record of a webhook, and in records of events and deliveries. */
export const eventType = v.pipe(
  oneOf(eventTypeNames),
  v.description(
    `The event type.\n\n${Object.entries(eventTypes)
      .map(([name, { firesWhen }]) => `- \`${name}\`: ${firesWhen}`)
      .join('\n')}`,
  ),
  v.metadata({ ref: 'EventType' }),
);

/** The types as a body or a record has them. */
export interface GivenTypes {
  readonly webhookType: EventType;
  readonly additionalTypes?: readonly EventType[] | null | undefined;
}

/**
 * All types in a body, the `webhookType` first.
 * @param stored the additional types that stay if it leaves them out
 */
export function typesIn(body: GivenTypes, stored: readonly EventType[]): EventType[] {
  const additional = body.additionalTypes === undefined ? stored : (body.additionalTypes ?? []);
  return [body.webhookType, ...sortedTypes(additional).filter((type) => type !== body.webhookType)];
}

/** All types of a webhook: its `webhookType`, then the additional ones in the order of the interface. */
export function typesOf(webhook: GivenTypes): EventType[] {
  return typesIn(webhook, []);
}

/** All types by name, as a line of facts. */
export function typesFact(webhook: GivenTypes): readonly ['Type' | 'Types', string] {
  const types = typesOf(webhook);
  return [types.length === 1 ? 'Type' : 'Types', types.join(', ')];
}
