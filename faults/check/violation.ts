/** All kinds, in the order of the table. */
export const violationKinds = ['lost', 'stuck', 'wrong', 'late'] as const;

/**
 * A broken promise: an accepted change is lost, a delivery waits for ever, something happened too late, or something
 * else is wrong.
 */
export interface Violation {
  readonly kind: (typeof violationKinds)[number];
  readonly text: string;
}

/** Makes a violation. */
export function violation(kind: Violation['kind'], text: string): Violation {
  return { kind, text };
}
