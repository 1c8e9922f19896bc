/**
 * All event types (docs/interface.md, E1). The enum of `webhookType`, the events of a write, the types of stock
 * movement, the OpenAPI text and the tables of the tests are derived from here.
 */

export type EntityKind = 'order' | 'product' | 'receiving' | 'return' | 'stockMovement';

/** The effects of a write on a record, in the order in which their events fire; the catalogue lists the fields. */
export const occasions = ['created', 'updated', 'statusChanged'] as const;
export type Occasion = (typeof occasions)[number];

interface EventTypeEntry {
  readonly entity: EntityKind;
  readonly on: Occasion;
  readonly movement?: string;
  /** When it fires, as a clause for documentation. */
  readonly firesWhen: string;
}

function event<const Kind extends EntityKind, const On extends Occasion>(
  entity: Kind,
  on: On,
  firesWhen: string,
) {
  return { entity, on, firesWhen };
}

/** Stock movements have an event for each type (`completition` is spelled as given). */
function movementEvent<const Type extends string>(movement: Type, what = `of type ${movement}`) {
  return { ...event('stockMovement', 'created', `a stock movement ${what} is created`), movement };
}

/** Every event type, in the order of the interface. */
export const eventTypes = {
  CREATE_ORDER: event('order', 'created', 'an order is created'),
  UPDATE_ORDER: event('order', 'updated', 'an order is updated'),
  UPDATE_ORDER_STATUS: event('order', 'statusChanged', 'the status of an order changes'),
  CREATE_PRODUCT: event('product', 'created', 'a product is created'),
  UPDATE_PRODUCT: event('product', 'updated', 'a product is updated'),
  CREATE_RECEIVING: event('receiving', 'created', 'a receiving is created'),
  UPDATE_RECEIVING: event('receiving', 'updated', 'a receiving is updated'),
  UPDATE_RECEIVING_STATUS: event('receiving', 'statusChanged', 'the status of a receiving changes'),
  CREATE_RETURN: event('return', 'created', 'a return is created'),
  UPDATE_RETURN: event('return', 'updated', 'a return is updated'),
  UPDATE_RETURN_STATUS: event('return', 'statusChanged', 'the status of a return changes'),
  CREATE_STOCK_MOVEMENT_STOCK_CORRECTION: movementEvent('stock_correction'),
  CREATE_STOCK_MOVEMENT_COMPLETITION: movementEvent('completition'),
  CREATE_STOCK_MOVEMENT_ORDER: movementEvent('order', 'for an order'),
  CREATE_STOCK_MOVEMENT_RETURN: movementEvent('return', 'for a return'),
  CREATE_STOCK_MOVEMENT_RECEIVING: movementEvent('receiving', 'for a receiving'),
  CREATE_STOCK_MOVEMENT_QUALITY_HOLD: movementEvent('quality_hold', 'for a quality hold'),
  CREATE_STOCK_MOVEMENT_QUALITY_RELEASE: movementEvent('quality_release', 'for a quality release'),
} as const satisfies Record<string, EventTypeEntry>;

export type EventType = keyof typeof eventTypes;

/** All `webhookType` values, in the order of the interface. */
export const eventTypeNames = Object.keys(eventTypes) as [EventType, ...EventType[]];

export function isEventType(word: string): word is EventType {
  return eventTypeNames.some((name) => name === word);
}

/** Types without repetitions, in the order of the interface. */
export function sortedTypes(types: readonly EventType[]): EventType[] {
  return eventTypeNames.filter((name) => types.includes(name));
}

/** The groups of types, each about one kind of record. The form of a webhook has boxes for these types only. */
const groups = {
  order: 'orders',
  product: 'products',
  receiving: 'receivings',
  return: 'returns',
  stockMovement: 'stock movements',
} as const satisfies Record<EntityKind, string>;

type GroupName = (typeof groups)[EntityKind];

/** "orders", "products", … */
export const groupNames: readonly GroupName[] = Object.values(groups);

/** The occasions on which a kind of record has events. */
export type OccasionsOf<Kind extends EntityKind> = Extract<
  (typeof eventTypes)[EventType],
  { entity: Kind }
>['on'];

/** All types about a kind of record, in the order of the interface. */
export function typesAbout(group: GroupName): EventType[] {
  return eventTypeNames.filter((name) => groups[eventTypes[name].entity] === group);
}

/** "CREATE_ORDER", or "CREATE_ORDER and 2 more". */
export function shortTypes(types: readonly string[]): string {
  const [first = '', ...others] = types;
  return others.length === 0 ? first : `${first} and ${others.length} more`;
}

/** The types for which `parameters.withPackingLists` is allowed (docs/interface.md, W3). */
export const packingListEventTypes: readonly EventType[] = ['UPDATE_ORDER', 'UPDATE_ORDER_STATUS'];

/** @returns null if there is none: products have no status, and stock movements have an event per type */
export function eventOn(entity: EntityKind, on: Occasion): EventType | null {
  const fits = (entry: EventTypeEntry) =>
    entry.entity === entity && entry.on === on && entry.movement === undefined;
  return eventTypeNames.find((name) => fits(eventTypes[name])) ?? null;
}

export type StockMovementType = Extract<(typeof eventTypes)[EventType], { movement: string }>['movement'];

export const stockMovementTypes = Object.values(eventTypes).flatMap((entry) =>
  'movement' in entry ? [entry.movement] : [],
) as [StockMovementType, ...StockMovementType[]];

export function eventOfMovement(type: StockMovementType): EventType {
  const fired = eventTypeNames.find((name) => movementOf(name) === type);
  if (fired === undefined) throw new RangeError(`Movements of type ${type} fire nothing.`);
  return fired;
}

/** The type of movement that an event is about; null for other records. */
export function movementOf(type: EventType): StockMovementType | null {
  const entry = eventTypes[type];
  return 'movement' in entry ? entry.movement : null;
}
