/**
 * The events of a write (docs/interface.md, E1 and E2): the record is compared before and after, so a write that
 * changes nothing fires nothing, on any path.
 */
import type { CatalogueEntry } from './catalogue.ts';
import { type EventType, eventOn, type Occasion, occasions } from './event-types.ts';
import { unchanged } from './unchanged.ts';

/** What a change of a field is; null if it fires nothing, such as that of `updatedAt`. */
function occasionOf({ responseOnly, firesInstead }: CatalogueEntry, field: string): Occasion | null {
  return firesInstead?.[field] ?? (responseOnly.includes(field) ? null : 'updated');
}

/**
 * The event types that a write fires: the update before the change of status.
 * @param before null on creation
 */
export function eventsOf(entry: CatalogueEntry, before: object | null, after: object): EventType[] {
  const happened = new Set<Occasion | null>(before === null ? ['created'] : []);
  const fields = before === null ? [] : [...Object.keys(before), ...Object.keys(after)];
  for (const field of new Set(fields)) {
    const on = occasionOf(entry, field);
    if (!happened.has(on) && !unchanged(Reflect.get(before ?? {}, field), Reflect.get(after, field)))
      happened.add(on);
  }
  return occasions
    .filter((on) => happened.has(on))
    .map((on) => eventOn(entry.kind, on))
    .filter((type) => type !== null);
}
