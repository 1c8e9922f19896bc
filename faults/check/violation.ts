/** A broken promise: something accepted is lost, something waits for ever, or something else is wrong. */
export interface Violation {
  readonly kind: 'lost' | 'stuck' | 'wrong';
  readonly text: string;
}

/** One of them. */
export function violation(kind: Violation['kind'], text: string): Violation {
  return { kind, text };
}
