/** A record that is changed again and again, for example by a receiver that answers each event with a change. */
import type { EntityKind } from './event-types.ts';

/**
 * This many changes to one record within a minute count as a loop. Too low: busy integrations count, too. Too high: a
 * loop through a receiver that takes half a second is missed.
 */
export const LOOP_CHANGES_PER_MINUTE = 100;

export interface ChangeLoop {
  readonly eshopId: number;
  readonly kind: EntityKind;
  /** The number of changes within the last minute. */
  readonly changes: number;
}
