/**
 * @module
 */

/** A promise broken: something accepted is gone, something waits for ever, or something else is not as it should be. */
export interface Violation {
  readonly kind: 'lost' | 'stuck' | 'wrong';
  readonly text: string;
}

/** One of them. */
export function violation(kind: Violation['kind'], text: string): Violation {
  return { kind, text };
}
