/**
 * The 18 event kinds (given.md, "Webhook types"): one entry each. The enum of `webhookType`, the OpenAPI text
 * and the tables of the tests are derived from here.
 * @module
 */

/** The kinds of record that events speak of. */
export type EntityKind = 'order' | 'product' | 'receiving' | 'return' | 'stockMovement';

interface EventTypeEntry {
  readonly entity: EntityKind;
  /** When it fires, as a clause for documentation. */
  readonly firesWhen: string;
}

/** Every event kind, in the order of the interface. */
export const eventTypes = {
  CREATE_ORDER: { entity: 'order', firesWhen: 'an order is created' },
  UPDATE_ORDER: { entity: 'order', firesWhen: 'an order is updated' },
  UPDATE_ORDER_STATUS: { entity: 'order', firesWhen: 'the status of an order changes' },
  CREATE_PRODUCT: { entity: 'product', firesWhen: 'a product is created' },
  UPDATE_PRODUCT: { entity: 'product', firesWhen: 'a product is updated' },
  CREATE_RECEIVING: { entity: 'receiving', firesWhen: 'a receiving is created' },
  UPDATE_RECEIVING: { entity: 'receiving', firesWhen: 'a receiving is updated' },
  UPDATE_RECEIVING_STATUS: { entity: 'receiving', firesWhen: 'the status of a receiving changes' },
  CREATE_RETURN: { entity: 'return', firesWhen: 'a return is created' },
  UPDATE_RETURN: { entity: 'return', firesWhen: 'a return is updated' },
  UPDATE_RETURN_STATUS: { entity: 'return', firesWhen: 'the status of a return changes' },
  CREATE_STOCK_MOVEMENT_STOCK_CORRECTION: {
    entity: 'stockMovement',
    firesWhen: 'a stock movement of type stock_correction is created',
  },
  CREATE_STOCK_MOVEMENT_COMPLETITION: {
    entity: 'stockMovement',
    firesWhen: 'a stock movement of type completition is created',
  },
  CREATE_STOCK_MOVEMENT_ORDER: {
    entity: 'stockMovement',
    firesWhen: 'a stock movement for an order is created',
  },
  CREATE_STOCK_MOVEMENT_RETURN: {
    entity: 'stockMovement',
    firesWhen: 'a stock movement for a return is created',
  },
  CREATE_STOCK_MOVEMENT_RECEIVING: {
    entity: 'stockMovement',
    firesWhen: 'a stock movement for a receiving is created',
  },
  CREATE_STOCK_MOVEMENT_QUALITY_HOLD: {
    entity: 'stockMovement',
    firesWhen: 'a stock movement for a quality hold is created',
  },
  CREATE_STOCK_MOVEMENT_QUALITY_RELEASE: {
    entity: 'stockMovement',
    firesWhen: 'a stock movement for a quality release is created',
  },
} as const satisfies Record<string, EventTypeEntry>;

/** A `webhookType` value. */
export type EventType = keyof typeof eventTypes;

/** All `webhookType` values, in the order of the interface. */
export const eventTypeNames = Object.keys(eventTypes) as [EventType, ...EventType[]];

/** The types that `parameters.withPackingLists` is allowed for (given.md, "parameters object"). */
export const packingListEventTypes: readonly EventType[] = ['UPDATE_ORDER', 'UPDATE_ORDER_STATUS'];
