/** The types of a webhook, and what they allow of its other fields (docs/interface.md, W22). */
import * as v from 'valibot';
import {
  type EventType,
  eventTypeNames,
  eventTypes,
  movementOf,
  packingListEventTypes,
  sortedTypes,
} from './event-types.ts';
import { oneOf } from './fields.ts';
import { hasPersonalData } from './personal-data.ts';

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
  const more = body.additionalTypes === undefined ? stored : (body.additionalTypes ?? []);
  return [body.webhookType, ...sortedTypes(more).filter((type) => type !== body.webhookType)];
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

interface GivenParameters extends GivenTypes {
  readonly parameters: {
    readonly withPackingLists?: boolean | undefined;
    readonly withoutPersonalData?: boolean | undefined;
    readonly onStockChange?: boolean | undefined;
  } | null;
}

/** Each movement is its own record: none has a newer event. */
export const NO_LATEST = 'latest is not for stock movements: each is a record of its own';

/** The rules, each with its fields and where its problem is reported. @param stored see {@link typesIn} */
export function typeRules(stored: readonly EventType[]) {
  return {
    packingLists: {
      fields: [['webhookType'], ['additionalTypes'], ['parameters']],
      allowed: (input: GivenParameters) =>
        input.parameters?.withPackingLists !== true ||
        typesIn(input, stored).some((type) => packingListEventTypes.includes(type)),
      message: `allowed only for ${packingListEventTypes.join(' and ')}`,
      at: ['parameters', 'withPackingLists'],
    },
    /** Where nothing personal is sent, nothing is left out: a wish for it is a mistake. */
    personalData: {
      fields: [['webhookType'], ['additionalTypes'], ['method'], ['parameters']],
      allowed: (input: GivenParameters & { readonly method: 'POST' | 'GET' }) =>
        input.parameters?.withoutPersonalData !== true ||
        (input.method === 'POST' &&
          typesIn(input, stored).some((type) => hasPersonalData(eventTypes[type].entity))),
      message: 'allowed only for POST webhooks with a type of orders or returns',
      at: ['parameters', 'withoutPersonalData'],
    },
    /** Changes of stock alone are updates of a product. */
    onStockChange: {
      fields: [['webhookType'], ['additionalTypes'], ['parameters']],
      allowed: (input: GivenParameters) =>
        input.parameters?.onStockChange !== true || typesIn(input, stored).includes('UPDATE_PRODUCT'),
      message: 'allowed only for UPDATE_PRODUCT',
      at: ['parameters', 'onStockChange'],
    },
    noLatest: {
      fields: [['webhookType'], ['additionalTypes'], ['ordering']],
      allowed: (
        input: GivenTypes & { readonly ordering?: 'none' | 'record' | 'latest' | null | undefined },
      ) => input.ordering !== 'latest' || typesIn(input, stored).every((type) => movementOf(type) === null),
      message: NO_LATEST,
      at: ['ordering'],
    },
  } as const;
}
