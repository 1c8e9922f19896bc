/** A broken promise: an accepted change is lost, a delivery waits for ever, or something else is wrong. */
export interface Violation {
  readonly kind: 'lost' | 'stuck' | 'wrong';
  readonly text: string;
}

/** Makes a violation. */
export function violation(kind: Violation['kind'], text: string): Violation {
  return { kind, text };
}
