/**
 * The events of a write (docs/interface.md, E1 and E2): the record is compared before and after, so a write that
 * changes nothing fires nothing, on any path.
 */
import type { CatalogueEntry } from './catalogue.ts';
import { type EventType, eventOn, type Occasion, occasions } from './event-types.ts';
import { changedNames } from './unchanged.ts';

/** The occasion that a change to a field fires; null if it fires nothing, as with `updatedAt`. */
function occasionOf({ responseOnly, firesInstead }: CatalogueEntry, field: string): Occasion | null {
  return firesInstead?.[field] ?? (responseOnly.includes(field) ? null : 'updated');
}

/**
 * The event types that a write fires: the update before the change of status.
 * @param before null on creation
 */
export function eventsOf(entry: CatalogueEntry, before: object | null, after: object): EventType[] {
  const changed = before === null ? [] : changedNames(before, after);
  const happened = before === null ? ['created'] : changed.map((field) => occasionOf(entry, field));
  return occasions
    .filter((on) => happened.includes(on))
    .map((on) => eventOn(entry.kind, on))
    .filter((type) => type !== null);
}
