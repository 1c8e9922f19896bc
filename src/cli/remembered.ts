/** Caches a value for a moment, for all callers. @param freshMs how long, in milliseconds */
export function remembered<T>(freshMs: number, read: () => Promise<T>): () => Promise<T> {
  let known: { readonly at: number; readonly value: Promise<T> } | undefined;
  return () => {
    if (known === undefined || performance.now() - known.at > freshMs) {
      known = { at: performance.now(), value: read() };
    }
    return known.value;
  };
}
