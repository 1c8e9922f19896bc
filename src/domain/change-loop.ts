/** A record that is changed again and again, as by a receiver that answers each event with a change of its record. */
import type { EntityKind } from './event-types.ts';

/**
 * So many changes of one record within a minute are a loop. Fewer: busy integrations are suspected. More: a loop
 * whose receiver takes half a second is missed.
 */
export const LOOP_CHANGES_PER_MINUTE = 100;

export interface ChangeLoop {
  readonly eshopId: number;
  readonly kind: EntityKind;
  /** Within the last minute. */
  readonly changes: number;
}
