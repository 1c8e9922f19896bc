/**
 * The 18 event kinds (given.md, "Webhook types"): one entry each. The enum of `webhookType`, what a write fires, the
 * types of stock movement, the OpenAPI text and the tables of the tests are derived from here.
 * @module
 */

/** The kinds of record that events speak of. */
export type EntityKind = 'order' | 'product' | 'receiving' | 'return' | 'stockMovement';

/** What happens to a record. */
export type Occasion = 'created' | 'updated' | 'statusChanged';

interface EventTypeEntry {
  readonly entity: EntityKind;
  readonly on: Occasion;
  /** The type of a stock movement, where each has an event of its own (`completition` is spelled as given). */
  readonly movement?: string;
  /** When it fires, as a clause for documentation. */
  readonly firesWhen: string;
}

/** Every event kind, in the order of the interface. */
export const eventTypes = {
  CREATE_ORDER: { entity: 'order', on: 'created', firesWhen: 'an order is created' },
  UPDATE_ORDER: { entity: 'order', on: 'updated', firesWhen: 'an order is updated' },
  UPDATE_ORDER_STATUS: { entity: 'order', on: 'statusChanged', firesWhen: 'the status of an order changes' },
  CREATE_PRODUCT: { entity: 'product', on: 'created', firesWhen: 'a product is created' },
  UPDATE_PRODUCT: { entity: 'product', on: 'updated', firesWhen: 'a product is updated' },
  CREATE_RECEIVING: { entity: 'receiving', on: 'created', firesWhen: 'a receiving is created' },
  UPDATE_RECEIVING: { entity: 'receiving', on: 'updated', firesWhen: 'a receiving is updated' },
  UPDATE_RECEIVING_STATUS: {
    entity: 'receiving',
    on: 'statusChanged',
    firesWhen: 'the status of a receiving changes',
  },
  CREATE_RETURN: { entity: 'return', on: 'created', firesWhen: 'a return is created' },
  UPDATE_RETURN: { entity: 'return', on: 'updated', firesWhen: 'a return is updated' },
  UPDATE_RETURN_STATUS: {
    entity: 'return',
    on: 'statusChanged',
    firesWhen: 'the status of a return changes',
  },
  CREATE_STOCK_MOVEMENT_STOCK_CORRECTION: {
    entity: 'stockMovement',
    on: 'created',
    movement: 'stock_correction',
    firesWhen: 'a stock movement of type stock_correction is created',
  },
  CREATE_STOCK_MOVEMENT_COMPLETITION: {
    entity: 'stockMovement',
    on: 'created',
    movement: 'completition',
    firesWhen: 'a stock movement of type completition is created',
  },
  CREATE_STOCK_MOVEMENT_ORDER: {
    entity: 'stockMovement',
    on: 'created',
    movement: 'order',
    firesWhen: 'a stock movement for an order is created',
  },
  CREATE_STOCK_MOVEMENT_RETURN: {
    entity: 'stockMovement',
    on: 'created',
    movement: 'return',
    firesWhen: 'a stock movement for a return is created',
  },
  CREATE_STOCK_MOVEMENT_RECEIVING: {
    entity: 'stockMovement',
    on: 'created',
    movement: 'receiving',
    firesWhen: 'a stock movement for a receiving is created',
  },
  CREATE_STOCK_MOVEMENT_QUALITY_HOLD: {
    entity: 'stockMovement',
    on: 'created',
    movement: 'quality_hold',
    firesWhen: 'a stock movement for a quality hold is created',
  },
  CREATE_STOCK_MOVEMENT_QUALITY_RELEASE: {
    entity: 'stockMovement',
    on: 'created',
    movement: 'quality_release',
    firesWhen: 'a stock movement for a quality release is created',
  },
} as const satisfies Record<string, EventTypeEntry>;

/** A `webhookType` value. */
export type EventType = keyof typeof eventTypes;

/** All `webhookType` values, in the order of the interface. */
export const eventTypeNames = Object.keys(eventTypes) as [EventType, ...EventType[]];

/** The types that `parameters.withPackingLists` is allowed for (given.md, "parameters object"). */
export const packingListEventTypes: readonly EventType[] = ['UPDATE_ORDER', 'UPDATE_ORDER_STATUS'];

/**
 * The event that a write of a record fires.
 * @returns null where there is none: products have no status, and stock movements have an event per type
 */
export function eventOn(entity: EntityKind, on: Occasion): EventType | null {
  const fits = (entry: EventTypeEntry) =>
    entry.entity === entity && entry.on === on && entry.movement === undefined;
  return eventTypeNames.find((name) => fits(eventTypes[name])) ?? null;
}

/** A type of stock movement. */
export type StockMovementType = Extract<(typeof eventTypes)[EventType], { movement: string }>['movement'];

/** All types of stock movement. */
export const stockMovementTypes = Object.values(eventTypes).flatMap((entry) =>
  'movement' in entry ? [entry.movement] : [],
) as [StockMovementType, ...StockMovementType[]];

/** The event that a movement of this type fires. */
export function eventOfMovement(type: StockMovementType): EventType {
  const fired = eventTypeNames.find((name) => movementOf(name) === type);
  if (fired === undefined) throw new RangeError(`Movements of type ${type} fire nothing.`);
  return fired;
}

/** The type of movement that an event speaks of; null for other records. */
export function movementOf(type: EventType): StockMovementType | null {
  const entry = eventTypes[type];
  return 'movement' in entry ? entry.movement : null;
}
